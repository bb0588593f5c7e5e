"""A stage begins with the weights of the one before it, or is refused with the reason."""

from pathlib import Path

import pytest
import torch

from deixis.encoders.text.word_table import WordTable
from deixis.errors import RecipeError, RunError
from deixis.features.words.vocabulary import SPECIAL, Vocabulary
from deixis.methods.vsepp import VSEPP
from deixis.recipes.recipe import Recipe
from deixis.recipes.run_row import begin, earlier_run, run_folder, run_of
from deixis.runs.carry_words import carry_words
from deixis.runs.matcher import Matcher
from deixis.runs.run import Run
from deixis.runs.run_config import RunConfig
from deixis.training.checkpoint import read_tensors
from deixis.types import Sizes

STAGED = Path(__file__).parents[2] / "recipes" / "camp_staged.toml"
SIZES = Sizes(region=6, vocabulary=9)


def finished(recipe: Recipe, label: str, runs: Path) -> Matcher:
    row = recipe.row(label)
    matcher = Matcher(row.method.model(SIZES), RunConfig(row.options, SIZES, "", ""), None)
    folder = run_folder(recipe, row, 0, runs)
    matcher.save(folder)
    (folder / "metrics.json").write_text("{}")
    return matcher


def test_a_later_stage_begins_with_the_messages_of_the_first(tmp_path):
    recipe = Recipe.load(STAGED).tiny()
    before = finished(recipe, "messages", tmp_path).model.state_dict()
    row = recipe.row("fusion, messages fixed")
    model = row.method.model(SIZES)
    begin(model, row, run_of(recipe, recipe.row("messages"), 0, tmp_path), None)
    after = model.state_dict()
    assert any(key.startswith("similarity.messages.") for key in before)
    for key, value in before.items():
        assert torch.equal(after[key], value), key


def test_a_stage_may_take_over_some_parameters_alone(tmp_path):
    rows = [
        {"label": "messages", "method": {"name": "camp", "fuse": False}},
        {
            "label": "means",
            "method": {"name": "camp", "attend": False},
            "start": "messages",
            "take": ["image", "text"],
        },
    ]
    recipe = Recipe.of("staged", {"row": rows}).tiny()
    before = finished(recipe, "messages", tmp_path).model.state_dict()
    row = recipe.row("means")
    model = row.method.model(SIZES)
    own = {key: value.clone() for key, value in model.state_dict().items()}
    begin(model, row, run_of(recipe, recipe.row("messages"), 0, tmp_path), None)
    for key, value in model.state_dict().items():
        taken = key.startswith(("image", "text"))
        assert torch.equal(value, before[key] if taken else own[key]), key


def test_a_stage_without_the_one_before_it_is_refused(tmp_path):
    recipe = Recipe.load(STAGED).tiny()
    row = recipe.row("everything")
    folder = run_folder(recipe, row, 0, tmp_path)
    with pytest.raises(RunError, match="builds on row 'fusion, messages fixed', which is not"):
        earlier_run(recipe, row.start, 0, folder)


def test_a_stage_of_another_shape_is_refused(tmp_path):
    recipe = Recipe.load(STAGED).tiny()
    finished(recipe, "everything", tmp_path)
    row = recipe.row("messages")
    earlier = run_of(recipe, recipe.row("everything"), 0, tmp_path)
    with pytest.raises(RunError, match="does not fit row 'messages': it has similarity"):
        begin(row.method.model(SIZES), row, earlier, None)


def test_a_row_cannot_start_from_a_later_one():
    with pytest.raises(RecipeError, match="row 'fusion, messages fixed' starts from 'later'"):
        Recipe.load(
            STAGED, ['row=[{label="fusion, messages fixed", start="later", method={name="camp"}}]']
        )


def test_a_later_stage_that_names_no_earlier_one_is_refused():
    fusion = {"label": "fusion", "method": {"name": "camp_released"}}
    with pytest.raises(RecipeError, match="'fusion' has no start; its fusion learns over trained"):
        Recipe.of("alone", {"row": [fusion]})
    Recipe.of("first", {"row": [{"method": {"name": "camp_released", "stage": "messages"}}]})


def stage(runs, words, vectors):
    """A finished run of a method that learns word vectors, with a vocabulary of its own."""
    sizes = Sizes(region=6, vocabulary=len(SPECIAL) + len(words))
    options = {"name": "vsepp", "dim": 4, "word_dim": 3}
    model = VSEPP(dim=4, word_dim=3).model(sizes)
    with torch.no_grad():
        model.text.body.embed.weight[len(SPECIAL) :] = vectors
    config = RunConfig(options, sizes, "regions", "words")
    Matcher(model, config, Vocabulary(words)).save(runs / "earlier")
    return runs / "earlier"


def later(start):
    row = {"label": "later", "method": {"name": "vsepp", "dim": 4, "word_dim": 3}}
    return Recipe.of("stages", {"row": [{**row, "start": str(start)}]})


def test_a_stage_on_another_corpus_keeps_the_vector_of_every_word_it_knows(tmp_path):
    vectors = torch.arange(9.0).reshape(3, 3)
    recipe = later(stage(tmp_path, ("boat", "dog", "sea"), vectors))
    row = recipe.row("later")
    now = Vocabulary(("cat", "dog", "sea"))  # of equal size, and not the same
    model = row.method.model(Sizes(region=6, vocabulary=now.size))
    fresh = model.text.body.embed.weight[len(SPECIAL)].clone()
    earlier = earlier_run(recipe, row.start, 0, tmp_path / "stages" / "later-0")
    begin(model, row, earlier, now)
    table = model.text.body.embed.weight[len(SPECIAL) :]
    assert torch.equal(table, torch.stack([fresh, vectors[1], vectors[2]]))
    before = read_tensors(earlier.path("weights"))[0]
    assert torch.equal(model.text.body.embed.weight[:5], before["text.body.embed.weight"][:5])
    assert torch.equal(model.image.body.linear.weight, before["image.body.linear.weight"])


def test_vectors_of_positions_are_not_taken_for_those_of_words():
    class Positioned(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.positions = WordTable(8, 2), torch.nn.Embedding(8, 2)

    before, now = Vocabulary(("boat", "dog", "sea")), Vocabulary(("sea", "dog", "boat"))
    weights, model = Positioned().state_dict(), Positioned()
    moved = carry_words(weights, model, before, now)
    assert torch.equal(moved["words.weight"][5], weights["words.weight"][7])
    assert torch.equal(moved["positions.weight"], weights["positions.weight"])


def test_a_larger_vocabulary_is_no_obstacle_but_one_without_a_shared_word_is(tmp_path):
    recipe = later(stage(tmp_path, ("boat", "dog"), torch.ones(2, 3)))
    row = recipe.row("later")
    for words, fits in ((("a", "boat", "cat", "dog"), True), (("chien", "mer"), False)):
        now = Vocabulary(words)
        model = row.method.model(Sizes(region=6, vocabulary=now.size))
        if fits:
            begin(model, row, Run(row.start), now)
            assert model.text.body.embed.weight[len(SPECIAL) + 1].tolist() == [1.0, 1.0, 1.0]
        else:
            with pytest.raises(RunError, match="no word in common"):
                begin(model, row, Run(row.start), now)


def test_a_row_that_builds_on_nothing_known_is_refused(tmp_path):
    with pytest.raises(RecipeError, match="no earlier row and no run folder"):
        later(tmp_path / "nowhere")
    row = {"label": "later", "method": {"name": "aoq"}, "offline": {"by": str(tmp_path)}}
    with pytest.raises(RecipeError, match="no folder of released lists"):
        Recipe.of("stages", {"row": [row]})
