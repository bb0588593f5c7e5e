"""A recipe may judge pointing by text scores corrected as a packed run corrects them."""

import numpy as np
import pytest

from deixis.errors import RunError
from deixis.recipes.pointing.judge_pointing import text_scores
from deixis.recipes.recipe import Recipe
from deixis.runs.training_bank import training_bank


def recipe_of(method: str, *, bank: bool) -> Recipe:
    """A run that ranks by text and a place head over the same regions, a few steps each."""
    places = {
        "label": "places",
        "method": {"name": "places", "dim": 8, "hidden": 16},
        "data": {"texts": "phrases", "text": "minilm-int8"},
        "train": {"batching": "images", "texts_per_image": 2},
    }
    table = {
        "data": {"corpus": "scenes", "size": 60, "image": "regions", "text": "words"},
        "train": {"length": 6, "batch": 8, "validate_every": 6},
        "row": [{"label": "text", "method": {"name": method, "dim": 16}}, places],
        "pointing": {"text": "text", "places": "places", "bank": bank},
    }
    return Recipe.of("banked", table)


def test_the_table_of_pointing_is_judged_with_the_bank_a_packed_run_gets(tmp_path):
    (plain,) = recipe_of("vsepp", bank=False).run(tmp_path).pointing
    (banked,) = recipe_of("vsepp", bank=True).run(tmp_path).pointing
    assert banked.line("text only") != plain.line("text only")
    assert banked.line("σ = 0.05").every != plain.line("σ = 0.05").every
    assert banked.twins == plain.twins  # the maps know nothing of the text score


def test_a_bank_takes_from_every_picture_how_near_it_is_to_training_texts(tmp_path):
    run = recipe_of("vsepp", bank=True).train("text", runs=tmp_path)
    bank = training_bank(run.matcher.model, run.dataset("train"))
    taken = text_scores(run, run.dataset()) - text_scores(run, run.dataset(), bank)
    assert np.ptp(taken, axis=1) == pytest.approx(0.0, abs=1e-5)
    assert np.ptp(taken[:, 0]) > 0


def test_scores_that_are_no_inner_product_have_no_bank(tmp_path):
    run = recipe_of("scan", bank=True).train("text", runs=tmp_path)
    with pytest.raises(RunError, match="one inner product"):
        training_bank(run.matcher.model, run.dataset("train"))
