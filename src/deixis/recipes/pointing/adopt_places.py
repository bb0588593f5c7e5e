"""A place head for a pretrained pair: trained over its patches, kept in its run folder."""

from deixis.data.read_corpus import read_corpus
from deixis.errors import RunError
from deixis.evaluation.places.places_result import PlacesResult
from deixis.recipes.events import OnEvent, unheard
from deixis.recipes.pointing.judge_pointing import judge_pointing
from deixis.recipes.recipe import Recipe
from deixis.runs.places.take_place_head import take_place_head
from deixis.runs.run import Run

RECIPE = "places_patches"
HELD = 10  # one training image in ten is held out, 500 at most


def adopt_places(
    run: Run, corpus: str, on_event: OnEvent = unheard, *, overrides: tuple[str, ...] = ()
) -> PlacesResult:
    """Train recipe ``places_patches`` on a corpus with groundings, and judge both together.

    The training lies in the run folder and goes on where it was stopped.
    """
    if not run.config.image.startswith("hf:"):
        raise RunError(f"{run} reads '{run.config.image}'; a place head goes over hf: patches")
    splits = read_corpus(corpus).splits
    test = next((name for name in ("test", "val") if name in splits), "")
    if not test:
        raise RunError(f"{corpus} has no split 'test' or 'val' to judge the place head on")
    holdout = min(500, max(1, splits.count("train") // HELD))
    data = {"corpus": corpus, "image": run.config.image, "text": run.config.text, "test": test}
    said = [f"data.{key}={value}" for key, value in data.items()]
    recipe = Recipe.load(RECIPE, [*said, f"data.holdout={holdout}", *overrides])
    head = take_place_head(recipe.train(runs=run.folder / "training", on_event=on_event))
    head.write(run.path("places"))
    return judge_pointing(run, head, test, corpus)
