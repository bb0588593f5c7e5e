"""No dead flags: an option exists because a recipe, an example or a test varies it."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from deixis.methods import load_all
from deixis.methods.model import methods
from deixis.recipes.recipe import DataSpec
from deixis.training.spec import TrainSpec

ROOT = Path(__file__).parents[1]
load_all()


def written() -> str:
    files = [*ROOT.glob("recipes/*.toml"), *ROOT.glob("examples/*.py"), *ROOT.glob("tests/**/*.py")]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


OPTIONS = [
    (kind.__name__, field.name)
    for kind in (DataSpec, TrainSpec, *(methods.find(name) for name in methods.names()))
    for field in fields(kind)
]


@pytest.fixture(scope="module")
def everything() -> str:
    return written()


@pytest.mark.parametrize(("kind", "option"), OPTIONS)
def test_an_option_is_varied_somewhere(kind, option, everything):
    assert re.search(rf"\b{option}\"?\s*[=:]", everything), f"{kind}.{option} is never set"
