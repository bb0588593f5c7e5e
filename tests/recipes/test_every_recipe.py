"""Every recipe in the repository runs: one row of each, in seconds, on simulated scenes."""

from pathlib import Path

import pytest

from deixis.recipes.judging import JUDGINGS
from deixis.recipes.prepare import prepare
from deixis.recipes.recipe import Recipe, Row
from deixis.recipes.run import RowRun, run_folder, run_row

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))


def nothing(*args) -> None:
    pass


def run(recipe: Recipe, row: Row, runs: Path) -> RowRun:
    """Run a row, and before it the rows it starts from or mines by."""
    for label in {row.start, row.offline.by if row.offline else ""} - {""}:
        run(recipe, recipe.row(label), runs)
    folder = run_folder(recipe, row, 0, runs)
    return run_row(recipe, row, 0, prepare(row.data, nothing), folder, nothing)


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_last_row_of_the_recipe_trains_and_is_judged(path, tmp_path):
    recipe = Recipe.load(path).tiny()
    done = run(recipe, recipe.rows[-1], tmp_path)
    highest = 600 if recipe.judge == "pairs" else 100
    assert 0 <= done.result["measures"][JUDGINGS[recipe.judge].headline] <= highest
    assert (done.folder / "model.safetensors").exists()
