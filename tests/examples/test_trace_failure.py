import runpy
from pathlib import Path

from deixis.recipes.recipe import Recipe
from deixis.recipes.run_row import run_row
from deixis.runs.prepare import prepare

ROOT = Path(__file__).parents[2]


def test_the_example_measures_a_trained_run(tmp_path):
    recipe = Recipe.load(ROOT / "recipes" / "trace_claim.toml").tiny()
    row = recipe.row("text + trace")
    prepared = prepare(row.data, lambda *_: None)
    run_row(recipe, row, 0, prepared, tmp_path / "run", lambda *_: None)
    main = runpy.run_path(str(ROOT / "examples" / "trace_failure.py"))["main"]
    assert "narrations name a colour" in main(tmp_path / "run")
