"""A later round mines with an earlier one, and may start from its weights."""

import pytest
import torch

from deixis.data.negatives import Negatives
from deixis.errors import RecipeError, RunError
from deixis.features.words import Vocabulary
from deixis.methods.matcher import load
from deixis.methods.model import Sizes
from deixis.recipes.prepare import Prepared
from deixis.recipes.recipe import Recipe
from deixis.recipes.run import run_folder, run_row
from made import made_dataset

BASE = {"name": "vsepp", "dim": 8, "word_dim": 4}


def recipe(**second):
    later = {
        "label": "later",
        "method": {"name": "aoq", "base": BASE},
        "offline": {"by": "first", "texts": 5, "images": 4},
    }
    table = {
        "train": {"length": 6, "batch": 8, "validate_every": 3, "schedule": "constant"},
        "row": [{"label": "first", "method": BASE}, {**later, **second}],
    }
    return Recipe.of("rounds", table)


@pytest.fixture(scope="module")
def prepared():
    made = made_dataset()
    words = Vocabulary(tuple(f"word{n}" for n in range(25)))
    return Prepared({k: made for k in ("train", "val", "test")}, Sizes(8, vocabulary=30), words)


def run(loaded, label, prepared, runs):
    records, row = [], loaded.row(label)
    folder = run_folder(loaded, row, 0, runs)
    run_row(loaded, row, 0, prepared, folder, records.append)
    return folder, [record["rank"] for record in records if "rank" in record]


def test_a_later_round_mines_with_an_earlier_one(prepared, tmp_path):
    loaded = recipe()
    first, _ = run(loaded, "first", prepared, tmp_path)
    later, ranks = run(loaded, "later", prepared, tmp_path)
    mined = Negatives.load(first / "negatives-5-4")
    assert mined.texts.shape == (24, 5)
    assert mined.source.model == load(first).identity
    assert all(rank > 0 for rank in ranks)
    assert load(later).config.method["name"] == "aoq"


@pytest.mark.parametrize("start", ["", "first"])
def test_a_later_round_starts_anew_or_from_the_earlier_one(start, prepared, tmp_path):
    loaded = recipe(train={"lr": 1e-9}, start=start)
    first, _ = run(loaded, "first", prepared, tmp_path)
    later, _ = run(loaded, "later", prepared, tmp_path)
    one, other = load(first).model.state_dict(), load(later).model.state_dict()
    same = all(torch.allclose(one[key], other[key], atol=1e-6) for key in one)
    assert same == bool(start)


def test_a_later_round_without_its_earlier_one_is_refused(prepared, tmp_path):
    with pytest.raises(RunError, match="builds on row 'first'"):
        run(recipe(), "later", prepared, tmp_path)


def test_a_row_changes_what_it_names_of_the_training():
    loaded = recipe(train={"length": 9})
    assert loaded.row("first").train.length == 6
    assert loaded.row("later").train.length == 9
    assert loaded.row("later").train.batch == 8


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"offline": {"by": "nobody"}}, "no earlier row"),
        ({"offline": {"by": "later"}}, "no earlier row"),
        ({"offline": {}}, "no earlier row"),
        ({"train": {"rate": 1}}, "no option 'rate'"),
        ({"offline": {"text": 1}}, "no option 'text'"),
    ],
)
def test_a_round_that_cannot_be_is_refused_at_once(second, message):
    with pytest.raises(RecipeError, match=message):
        recipe(**second)


def test_a_tiny_table_narrows_the_wrapped_method_too():
    wide = {"name": "vsepp", "dim": 512, "word_dim": 300}
    row = recipe(method={"name": "aoq", "base": wide}).tiny().row("later")
    assert row.options["base"]["dim"] == 32
    assert row.method.wrapped().dim == 32
