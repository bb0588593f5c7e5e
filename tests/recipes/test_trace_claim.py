from pathlib import Path

import pytest

from deixis.errors import EvaluationError
from deixis.evaluation.result import RunRanks
from deixis.evaluation.significance import compare
from deixis.pages.run_comparison import write_comparison
from deixis.recipes.recipe import Recipe
from deixis.recipes.recipe_parts import Derived
from deixis.recipes.results.derived import derive
from deixis.recipes.results.printed_table import Line, Report
from deixis.recipes.run_recipe import without_learning
from deixis.recipes.run_row import run_row
from deixis.recipes.trace_control_runs import controlled_ranks
from deixis.runs.prepare import Prepared, prepare
from deixis.runs.run import Run

CLAIM = Path(__file__).parents[2] / "recipes" / "trace_claim.toml"


def nothing(*args) -> None:
    pass


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[list[Run], Prepared, Recipe]:
    recipe = Recipe.load(CLAIM).tiny()
    prepared = prepare(recipe.rows[0].data, nothing)
    runs = []
    for row in recipe.rows:
        folder = tmp_path_factory.mktemp("claim") / "run"
        runs.append(run_row(recipe, row, 0, prepared, folder, nothing))
    return runs, prepared, recipe


def test_every_control_of_the_recipe_is_measured_on_the_trained_row(trained):
    runs, prepared, recipe = trained
    measured = {line.control: derive(line, [(runs[1], prepared)]) for line in recipe.derived}
    plain = derive(Derived("plain", ("text + trace",)), [(runs[1], prepared)])
    assert len(measured) == 4
    assert [control for control, value in measured.items() if value == plain] == []


def test_a_control_without_effect_on_words_leaves_the_text_model_alone(trained):
    runs, prepared, _ = trained
    lines = [
        derive(Derived("x", ("text",), control=c), [(runs[0], prepared)]) for c in ("", "no trace")
    ]
    assert lines[0] == lines[1]


def test_the_table_has_columns_for_twins_where_there_are_any(trained):
    runs, prepared, _ = trained
    measures = derive(Derived("x", ("text",)), [(runs[0], prepared)])
    assert {"swap", "twin"} <= set(measures)
    report = Report("", "", "", (Line("x", (measures,), {}),))
    plain = Report("", "", "", (Line("x", ({"rsum": 1.0},), {}),))
    assert "swap binding" in report.markdown()
    assert "swap binding" not in plain.markdown()


def test_the_table_shows_what_a_reader_blind_to_place_would_reach(trained):
    _, prepared, recipe = trained
    _, blind = without_learning(recipe, prepared.splits["test"].corpus)
    assert blind.label == "upper bound without place information"
    found = blind.seeds[0]
    assert 0 < found["t2i_hit@1"] < found["t2i_hit@5"] <= 100


def test_an_unknown_control_names_the_known_ones(trained):
    runs, prepared, _ = trained
    with pytest.raises(EvaluationError, match="no control 'upside down'; known: no trace"):
        derive(Derived("x", ("text",), control="upside down"), [(runs[0], prepared)])


def test_a_run_under_a_control_can_be_paired_with_another_query_by_query(trained):
    runs, prepared, _ = trained
    bare = controlled_ranks(runs[1], "no trace", nothing)
    found = {d.measure: d.first for d in compare(bare, RunRanks.load(runs[0]))}
    line = derive(Derived("x", ("text + trace",), control="no trace"), [(runs[1], prepared)])
    assert found["t2i_hit@5"] == pytest.approx(line["t2i_hit@5"])


def test_the_page_draws_the_trace_beside_the_words_and_over_the_pictures(trained, tmp_path):
    runs, _, _ = trained
    write_comparison(tmp_path / "page.html", runs[0], runs[1], nothing)
    assert 'alt="the trace as drawn"' in (tmp_path / "page.html").read_text()
