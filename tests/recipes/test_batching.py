"""A later round mines with an earlier one, and may start from its weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deixis.data.negatives.mined_negatives import MinedNegatives
from deixis.errors import RecipeError, RunError
from deixis.evaluation.judge import scores_of
from deixis.features.words.vocabulary import Vocabulary
from deixis.recipes.recipe import Recipe
from deixis.recipes.run_row import negatives_of, run_folder, run_row
from deixis.runs.matcher import load
from deixis.runs.prepare import Prepared
from deixis.types import Sizes
from layouts.released_lists import write_released_lists
from made import made_dataset

TRAIN = {"length": 6, "batch": 8, "validate_every": 3, "schedule": "constant"}
BASE = {"name": "vsepp", "dim": 8, "word_dim": 4}


def recipe(**second):
    later = {
        "label": "later",
        "method": {"name": "aoq", "base": BASE},
        "offline": {"by": "first", "texts": 5, "images": 4},
    }
    table = {
        "train": TRAIN,
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
    mined = MinedNegatives.load(first / "negatives-5-4")
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


def later_round(by, **keys):
    """A table of the later round alone, which mines by a folder."""
    method = {"name": "aoq", "base": BASE}
    row = {"label": "later", "method": method, "offline": {"by": str(by), **keys}}
    return Recipe.of("rounds", {"train": TRAIN, "row": [row]})


def test_a_round_may_mine_with_a_run_folder(prepared, tmp_path):
    first, _ = run(recipe(), "first", prepared, tmp_path / "elsewhere")
    _, ranks = run(later_round(first, texts=5, images=4), "later", prepared, tmp_path)
    assert MinedNegatives.load(first / "negatives-5-4").source.model == load(first).identity
    assert len(ranks) == 6 and all(rank > 0 for rank in ranks)


def test_a_run_folder_mines_in_the_words_it_was_trained_with(prepared, tmp_path):
    words = tuple(str(n) for n in range(5, 30))
    own = replace(prepared, vocabulary=Vocabulary(words))
    first, _ = run(recipe(), "first", own, tmp_path / "elsewhere")
    other = replace(prepared, vocabulary=Vocabulary(words[::-1]))  # of equal size, another order
    loaded = later_round(first, texts=5, images=4)
    mined, _ = negatives_of(loaded, loaded.rows[0].offline, 0, tmp_path / "a/b", other)
    train = own.splits["train"]
    tokens = load(first).vocabulary(train.corpus.texts)
    read = replace(train, tokens=tokens, texts=np.arange(len(train.texts)))
    scores = scores_of(load(first).model, read)
    hardest = np.where(train.corpus.positives(), -np.inf, scores).argmax(axis=1)
    assert np.array_equal(np.asarray(mined.texts)[:, 0], hardest)


def test_a_run_folder_that_reads_texts_otherwise_is_refused(prepared, tmp_path):
    first, _ = run(recipe(), "first", prepared, tmp_path / "elsewhere")
    train = prepared.splits["train"]
    states = np.zeros((len(train.tokens.ids), 3), np.float32)
    frozen = replace(train, tokens=replace(train.tokens, values=states))
    loaded = later_round(first, texts=5, images=4)
    with pytest.raises(RunError, match="reads texts otherwise"):
        other = replace(prepared, splits={**prepared.splits, "train": frozen}, vocabulary=None)
        negatives_of(loaded, loaded.rows[0].offline, 0, tmp_path / "a/b", other)


def test_a_round_may_train_from_the_lists_that_aoqs_authors_released(prepared, tmp_path):
    lists = write_released_lists(tmp_path / "offlinecandidates", prepared.splits["train"])
    loaded = later_round(lists, texts=5, images=4, coupled=True)
    later, ranks = run(loaded, "later", prepared, tmp_path)
    assert len(ranks) == 6 and all(rank > 0 for rank in ranks)
    assert load(later).config.method["name"] == "aoq"
    mined, _ = negatives_of(loaded, loaded.rows[0].offline, 0, later, prepared)
    assert np.array_equal(mined.texts, np.load(lists / "i2t_coco.npy")[:, :5])


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
