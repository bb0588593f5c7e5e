"""A rehearsal stops for everything the whole table would stop for."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from deixis.errors import RecipeError
from deixis.recipes.events import DataReady
from deixis.recipes.recipe import Recipe
from deixis.types import Sizes
from layouts.of_recipes import lay_out
from layouts.scan_arrays import COCO, write_scan_arrays
from tiny_towers import tiny_bert

LABELS = Path(__file__).parents[2] / "recipes" / "labels.toml"
SIZES = Sizes(region=12, vocabulary=20, labels=8)


@pytest.fixture
def row(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = Recipe.load(LABELS, rehearse=True).rows
    return next(row for row in rows if "bert" in row.options)


def test_a_row_that_starts_from_bert_starts_from_it_in_a_rehearsal(row, tmp_path):
    lay_out(tmp_path, "scenes", {"data/bert"})
    model = row.method.model(SIZES)
    weights = load_file("data/bert/model.safetensors")
    key = weights["encoder.layer.0.intermediate.dense.weight"]
    assert any(torch.equal(value, key) for value in model.state_dict().values())
    assert row.method.layers == 1


def test_a_row_without_its_bert_stops_the_rehearsal(row):
    with pytest.raises(RecipeError, match="no BERT checkpoint at data/bert"):
        row.method.model(SIZES)


def test_a_bert_of_another_width_stops_the_rehearsal(row, tmp_path):
    tiny_bert(tmp_path / "data/bert")
    with pytest.raises(RecipeError, match="the model wants"):
        row.method.model(SIZES)


def test_a_rehearsal_looks_at_the_first_images_of_each_split(tmp_path, monkeypatch):
    monkeypatch.setattr("deixis.recipes.recipe.FIRST", 10)
    write_scan_arrays(tmp_path / "data/coco_precomp", COCO)
    monkeypatch.chdir(tmp_path)
    recipe = Recipe.load(LABELS.with_name("scan_coco.toml"), rehearse=True)
    recipe = replace(recipe, rows=recipe.rows[:1], derived=())
    seen = []
    recipe.run(tmp_path / "runs", seen.append)
    sizes = next(event.splits for event in seen if isinstance(event, DataReady))
    assert sizes == {"train": (10, 50), "val": (8, 40), "test": (10, 50)}
    assert recipe.title.startswith("Rehearsal")


def test_the_judge_that_takes_no_part_of_a_test_split_rehearses_with_all_of_it():
    recipes = {name: LABELS.with_name(f"{name}.toml") for name in ("dive_eccv", "scan_coco")}
    first = {name: Recipe.load(path, rehearse=True).first for name, path in recipes.items()}
    assert first == {"dive_eccv": 0, "scan_coco": 200}
