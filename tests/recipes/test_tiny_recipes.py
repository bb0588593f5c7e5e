"""Recipes run in seconds on simulated scenes: one of each family, its last row.

All rows of all recipes run in ``test_recipes_on_layouts``.
"""

from pathlib import Path

import pytest

from deixis.recipes.recipe import Recipe
from deixis.recipes.recipe_parts import Row
from deixis.recipes.run_row import run_folder, run_row
from deixis.runs.prepare import prepare
from deixis.runs.run import Run

FAMILIES = (
    "aoq",
    "camp_staged",
    "dive_eccv",
    "dive_pretrained",
    "labels_coco",
    "tiny",
    "trace_depth",
)
RECIPES = [Path(__file__).parents[2] / "recipes" / f"{name}.toml" for name in FAMILIES]


def nothing(*args) -> None:
    pass


def run(recipe: Recipe, row: Row, runs: Path) -> Run:
    """Run a row, and before it the rows it starts from or mines by."""
    for label in {row.start, row.offline.by if row.offline else ""} - {""}:
        run(recipe, recipe.row(label), runs)
    folder = run_folder(recipe, row, 0, runs)
    return run_row(recipe, row, 0, prepare(row.data, nothing), folder, nothing)


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_last_row_of_the_recipe_trains_and_is_judged(path, tmp_path):
    recipe = Recipe.load(path).tiny()
    done = run(recipe, recipe.rows[-1], tmp_path)
    highest = 600 if recipe.judge == "whole" else 100
    assert 0 <= done.metrics["measures"][recipe.headline] <= highest
    assert done.path("weights").exists()
