"""Every recipe in the repository runs: one row of each, in seconds, on simulated scenes."""

from pathlib import Path

import pytest

from deixis.recipes.prepare import prepare
from deixis.recipes.recipe import Recipe
from deixis.recipes.run import run_row

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))


def nothing(*args) -> None:
    pass


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_last_row_of_the_recipe_trains_and_is_judged(path, tmp_path):
    recipe = Recipe.load(path).tiny()
    row = recipe.rows[-1]
    done = run_row(recipe, row, 0, prepare(row.data, nothing), tmp_path / "run", nothing)
    assert 0 <= done.result["measures"]["rsum"] <= 600
    assert (tmp_path / "run" / "model.safetensors").exists()
