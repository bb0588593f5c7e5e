"""Rows that stand beside a paper's numbers are trained as the paper, or its code, says."""

from pathlib import Path

import pytest

from deixis.recipes.recipe import Recipe

RECIPES = Path(__file__).parents[2] / "recipes"
SET_MODULE = "text.head"  # its rate is one of those the supplement of DivE scales


@pytest.mark.parametrize(
    ("row", "lr", "factor"),
    [("ResNet-152 trained from epoch 50", 2e-3, 0.01),
     ("ResNet-152 trained from epoch 50, GloVe", 2e-3, 0.01),
     ("ResNet-152 trained from epoch 50, COCO", 1e-3, 0.1)],
)  # fmt: skip
def test_rates_of_dive_on_a_grid_are_those_of_the_corpus(row, lr, factor):
    train = Recipe.load(RECIPES / "dive_grid.toml").row(f"DivE, {row}").train
    assert (train.lr, train.rates[SET_MODULE]) == (lr, factor)


@pytest.mark.parametrize(
    ("row", "other", "same"),
    [("VSE∞", "dive_regions", "VSE∞"), ("VSE∞, 16 times as wide", "dive_regions", "VSE∞"),
     ("DivE", "dive_regions", "DivE"), ("SCAN", "scan", "t-i LSE")],
)  # fmt: skip
def test_each_row_of_the_cost_table_trains_as_its_own_paper_does(row, other, same):
    train = Recipe.load(RECIPES / "dive_cost.toml").row(row).train
    assert train == Recipe.load(RECIPES / f"{other}.toml").row(same).train


@pytest.mark.parametrize("recipe", ["dive_grid", "dive_regions", "pvse"])
def test_glove_is_the_file_that_the_published_code_loads(recipe):
    texts = {row.data.text for row in Recipe.load(RECIPES / f"{recipe}.toml").rows}
    assert texts == {"words", "words:data/glove.840B.300d.txt"}


@pytest.mark.parametrize("recipe", ["labels", "labels_nuswide", "labels_coco"])
def test_printed_label_rows_start_from_bert_and_word2vec(recipe):
    table = Recipe.load(RECIPES / f"{recipe}.toml")
    printed = {row.label for row in table.rows if row.printed}
    assert printed == {"Independent", "DSCMR", "Ours+Con", "Ours"}
    for line in table.derived:
        assert line.printed and set(line.of) <= printed
    for row in table.rows:
        started = (row.data.text == "words:data/word2vec.txt", "bert" in row.options)
        assert started == (row.label in printed, row.label in printed - {"DSCMR"})
        assert row.label.endswith(", random start") == (row.label not in printed)


def test_rows_beside_figures_of_dive_start_from_glove_as_its_run_does():
    rows = Recipe.load(RECIPES / "dive_ablation.toml").rows
    assert {row.data.text for row in rows} == {"words:data/glove.840B.300d.txt"}


def test_stages_of_camp_are_the_released_ones():
    stages = Recipe.load(RECIPES / "camp_staged.toml").rows[:3]
    found = [(row.train.batch, row.train.optimiser, row.train.lr) for row in stages]
    assert found == [(256, "adam", 1e-3), (128, "sgd", 0.01), (128, "sgd", 0.01)]


@pytest.mark.parametrize("recipe", ["dive_pretrained", "dive_eccv"])
def test_words_of_vse_infinity_are_touched_before_bert_reads_them(recipe):
    rows = Recipe.load(RECIPES / f"{recipe}.toml").rows
    tuned = [r for r in rows if r.method.name == "vse_infinity" and "bert" in r.data.text]
    assert tuned and {row.train.drop_words for row in tuned} == {0.2}


def test_costs_of_dive_are_of_the_whole_validation_split():
    data = {row.data for row in Recipe.load(RECIPES / "dive_cost.toml").rows}
    assert {(part.val, part.val_images) for part in data} == {("val", 0)}


@pytest.mark.parametrize("recipe", ["scan", "scan_coco"])
def test_rows_of_scan_stand_beside_numbers_only_where_their_source_was_read(recipe):
    rows = Recipe.load(RECIPES / f"{recipe}.toml").rows
    assert {row.label for row in rows if row.printed} == {"t-i AVG", "i-t AVG"}
