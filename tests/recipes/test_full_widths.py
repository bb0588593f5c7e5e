"""Every row can be built as wide as it says: elsewhere tests and rehearsals run narrow models."""

from pathlib import Path

import pytest
import torch

from deixis.features.backbones.trainable_inputs import PREFIX
from deixis.recipes.recipe import Recipe
from deixis.training.optimiser import make_optimiser
from deixis.types import Sizes

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))
WIDE = {"region": 2048, "image": 512, "text": 512, "vocabulary": 8500, "labels": 24}
STATES = 768  # of a pretrained text tower


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_row_is_built_at_its_width_and_its_rates_name_its_parameters(path):
    rows = [row for row in Recipe.load(path).rows if not row.options.get("bert")]  # read from disk
    for row in rows:
        sizes = Sizes(**WIDE, token=0 if row.data.text.startswith("words") else STATES)
        with torch.device("meta"):  # shapes alone
            model, objective = row.method.model(sizes), row.method.objective(sizes)
        assert all(value.is_meta for value in model.parameters()), row.label
        if not any(name.startswith(PREFIX) for name in (row.data.image, row.data.text)):
            make_optimiser(model, objective, row.train)  # a rate without a parameter is refused
