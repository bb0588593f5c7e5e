"""A stage begins with the weights of the one before it, or is refused with the reason."""

from pathlib import Path

import pytest
import torch

from deixis.errors import RecipeError, RunError
from deixis.methods.matcher import Matcher, RunConfig
from deixis.methods.model import Sizes
from deixis.recipes.recipe import Recipe
from deixis.recipes.run import begin, earlier_run, run_folder

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
    begin(model, row, run_folder(recipe, recipe.row("messages"), 0, tmp_path))
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
    begin(model, row, run_folder(recipe, recipe.row("messages"), 0, tmp_path))
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
    earlier = run_folder(recipe, recipe.row("everything"), 0, tmp_path)
    with pytest.raises(RunError, match="does not fit row 'messages': it has similarity"):
        begin(row.method.model(SIZES), row, earlier)


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
