"""`deixis adopt`: a pretrained pair, or a checkpoint that authors released, as a run folder."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.options import Json
from deixis.cli.shared.printing import output, print_json, say
from deixis.extras import need


@app.command()
def adopt(
    source: Annotated[str, typer.Argument(help="hf:PATH of a CLIP or SigLIP, or a checkpoint.")],
    folder: Annotated[Path, typer.Argument(help="The run folder to write.")],
    *,
    method: Annotated[str, typer.Option(help="The method of a checkpoint, for example vsrn.")] = "",
    vocabulary: Annotated[
        Path | None, typer.Option(help="The authors' vocabulary, JSON or pickle.")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(help="The authors' options, YAML or JSON.")
    ] = None,
    image: Annotated[str, typer.Option(help="The image features the model reads.")] = "regions",
    text: Annotated[str, typer.Option(help="The text features the model reads.")] = "words",
    places: Annotated[
        str,
        typer.Option(help="With hf:PATH: a corpus with boxes for phrases; trains a place head."),
    ] = "",
    as_json: Json = False,
) -> None:
    """Make a run folder from a pretrained pair of towers or from a released checkpoint.

    Nothing is trained, except with --places: a head that finds where in a picture a phrase is.

    Checkpoints and vocabularies are read as data: a file that contains code is refused.
    """
    if source.startswith("hf:"):
        need("transformers", "hub")  # it brings torch, which the next lines load
    from deixis.runs.adopt_model import adopt_model
    from deixis.runs.released.adopt_checkpoint import AuthorsFiles

    files = AuthorsFiles(Path(source), vocabulary, settings, image, text)
    adopt_model(source, folder, method, files)
    if places:
        _add_places(folder, places, as_json)
        return
    print_json({"folder": folder}) if as_json else say(str(folder))


def _add_places(folder: Path, corpus: str, as_json: bool) -> None:
    from deixis.cli.shared.recipe_bars import RecipeBars
    from deixis.recipes.pointing.adopt_places import adopt_places
    from deixis.recipes.pointing.places_table import places_terminal
    from deixis.runs.run import Run

    with RecipeBars() as bars:
        result = adopt_places(Run(folder), corpus, bars)
    if as_json:
        print_json({"folder": folder, "pointing": result.to_dict()})
        return
    output.print(places_terminal(str(folder), [result]))
