"""What figures draw is what runs logged and measured."""

import json

import numpy as np
import pytest

from deixis.errors import RecipeError, RunError
from deixis.recipes.recipe import Recipe
from deixis.recipes.results.figure_series import drawn

TABLE = {
    "seeds": [0, 1],
    "train": {"length": "2 epochs"},
    "row": [
        {"label": "a", "method": {"name": "semantic_sharing", "masked": 0.0}},
        {"label": "b", "method": {"name": "semantic_sharing", "masked": 0.5}},
    ],
    "figure": [
        {"title": "over epochs", "measures": ["image_f1"], "of": ["b"]},
        {"title": "over λ", "measures": ["ndcg"], "over": "masked"},
    ],
}


@pytest.fixture
def made(tmp_path):
    recipe = Recipe.of("made", TABLE)
    for place, label in enumerate("ab"):
        for seed in (0, 1):
            run = tmp_path / "made" / f"{label}-{seed}"
            run.mkdir(parents=True)
            records = [
                {"step": 5, "measures": {"image_f1": 10.0 * place + seed}},
                {"step": 10, "loss": 1.0},
                {"step": 10, "measures": {"image_f1": 20.0 * place + seed}},
            ]
            (run / "log.jsonl").write_text("\n".join(map(json.dumps, records)))
            measures = {"measures": {"ndcg": 50.0 + place + seed}}
            (run / "metrics.json").write_text(json.dumps(measures))
    return recipe, tmp_path


def test_measures_over_epochs_are_those_of_every_validation(made):
    recipe, runs = made
    found = drawn(recipe, recipe.figures[0], runs)
    (series,) = found.series
    assert series.row == "b" and series.x.tolist() == [1.0, 2.0]
    assert series.values.tolist() == [[10.0, 20.0], [11.0, 21.0]]
    assert found.ticks == ((0.0, "0"), (1.0, "1"), (2.0, "2"))


def test_measures_over_an_option_are_those_of_the_table(made):
    recipe, runs = made
    found = drawn(recipe, recipe.figures[1], runs)
    (series,) = found.series
    assert found.ticks == ((0.0, "0"), (1.0, "0.5"))
    assert np.array_equal(series.values, [[50.0, 51.0], [51.0, 52.0]])


def test_unfinished_runs_and_logs_without_measures_are_named(made):
    recipe, runs = made
    (runs / "made/b-0/log.jsonl").write_text('{"step": 1, "loss": 1.0}')
    with pytest.raises(RunError, match="holds no measures over epochs"):
        drawn(recipe, recipe.figures[0], runs)
    (runs / "made/a-1/metrics.json").unlink()
    with pytest.raises(RunError, match="a-1 is not a finished run"):
        drawn(recipe, recipe.figures[1], runs)


def test_a_measure_or_option_that_is_not_there_is_refused(made):
    _, runs = made
    for figure, said in (
        ({"title": "t", "measures": ["rsum"]}, "asks for 'rsum', which was not measured"),
        ({"title": "t", "measures": ["ndcg"], "over": "eta"}, "has no option 'eta'"),
    ):
        recipe = Recipe.of("made", {**TABLE, "figure": [figure]})
        with pytest.raises(RecipeError, match=said):
            drawn(recipe, recipe.figures[0], runs)
