"""DivE's tables learn at the rates of its code: sets slowly on both sides, words faster."""

from pathlib import Path

import pytest

from deixis.recipes.recipe import Recipe
from deixis.training.optimiser import make_optimiser
from deixis.types import Sizes

RECIPES = Path(__file__).parents[2] / "recipes"
# Of the published run: the image side and the text's set module by a factor, the rest whole.
FACTORS = {
    "dive_ablation": 0.1,
    "dive_set_size": 0.1,
    "dive_sharpness": 0.1,
    "dive_similarity": 0.1,
    "dive_regions": 0.05,
    "dive_cost": 0.05,
}
SIZES = Sizes(region=12, vocabulary=20)


def _wanted(name: str, factor: float) -> float:
    slow = name.startswith("image.") or (
        name.startswith("text.head.") and not name.startswith("text.head.whole.")
    )
    return factor if slow else 1.0


@pytest.mark.parametrize("recipe", FACTORS)
def test_every_parameter_of_dive_learns_at_its_rate(recipe):
    rows = Recipe.load(RECIPES / f"{recipe}.toml", rehearse=True).rows
    rows = [row for row in rows if row.method.name == "dive"]
    assert rows
    for row in rows:
        model, objective = row.method.model(SIZES), row.method.objective(SIZES)
        factors = {
            id(parameter): group["factor"]
            for group in make_optimiser(model, objective, row.train).param_groups
            for parameter in group["params"]
        }
        found = {name: factors[id(value)] for name, value in model.named_parameters()}
        assert found == {name: _wanted(name, FACTORS[recipe]) for name in found}, row.label
