from pathlib import Path

import pytest

from deixis.cli.training import _without_learning
from deixis.errors import EvaluationError
from deixis.evaluation.result import RunRanks
from deixis.evaluation.significance import compare
from deixis.recipes.controlled import controlled_ranks
from deixis.recipes.derive import derive
from deixis.recipes.prepare import Prepared, prepare
from deixis.recipes.recipe import Derived, Recipe
from deixis.recipes.run import run_row
from deixis.recipes.sidebyside import write_page
from deixis.recipes.table import Line, Report

CLAIM = Path(__file__).parents[2] / "recipes" / "trace_claim.toml"


def nothing(*args) -> None:
    pass


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[list[Path], Prepared, Recipe]:
    recipe = Recipe.load(CLAIM).tiny()
    prepared = prepare(recipe.rows[0].data, nothing)
    folders = []
    for row in recipe.rows:
        folder = tmp_path_factory.mktemp("claim") / "run"
        folders.append(run_row(recipe, row, 0, prepared, folder, nothing).folder)
    return folders, prepared, recipe


def test_every_control_of_the_recipe_is_measured_on_the_trained_row(trained):
    folders, prepared, recipe = trained
    measured = {line.control: derive(line, [(folders[1], prepared)]) for line in recipe.derived}
    plain = derive(Derived("plain", ("text + trace",)), [(folders[1], prepared)])
    assert len(measured) == 4
    assert [control for control, value in measured.items() if value == plain] == []


def test_a_control_without_effect_on_words_leaves_the_text_model_alone(trained):
    folders, prepared, _ = trained
    lines = [
        derive(Derived("x", ("text",), control=c), [(folders[0], prepared)])
        for c in ("", "no trace")
    ]
    assert lines[0] == lines[1]


def test_the_table_has_columns_for_twins_where_there_are_any(trained):
    folders, prepared, _ = trained
    measures = derive(Derived("x", ("text",)), [(folders[0], prepared)])
    assert {"swap", "twin"} <= set(measures)
    told = Report("", "", "", (Line("x", (measures,), {}),))
    plain = Report("", "", "", (Line("x", ({"rsum": 1.0},), {}),))
    assert "swap binding" in told.markdown()
    assert "swap binding" not in plain.markdown()


def test_the_table_tells_what_a_reader_blind_to_place_would_reach(trained):
    _, prepared, recipe = trained
    _, blind = _without_learning(recipe, prepared.splits["test"].corpus)
    assert blind.label == "perfect reader, blind to place"
    found = blind.seeds[0]
    assert 0 < found["t2i_hit@1"] < found["t2i_hit@5"] <= 100


def test_an_unknown_control_names_the_known_ones(trained):
    folders, prepared, _ = trained
    with pytest.raises(EvaluationError, match="no control 'upside down'; known: no trace"):
        derive(Derived("x", ("text",), control="upside down"), [(folders[0], prepared)])


def test_a_run_under_a_control_can_be_paired_with_another_query_by_query(trained):
    folders, prepared, _ = trained
    bare = controlled_ranks(folders[1], "no trace", nothing)
    found = {d.measure: d.first for d in compare(bare, RunRanks.load(folders[0]))}
    line = derive(Derived("x", ("text + trace",), control="no trace"), [(folders[1], prepared)])
    assert found["t2i_hit@5"] == pytest.approx(line["t2i_hit@5"])


def test_the_page_draws_the_trace_beside_the_words_and_over_the_pictures(trained, tmp_path):
    folders, _, _ = trained
    write_page(tmp_path / "page.html", folders[0], folders[1], nothing)
    assert "alt='the trace drawn'" in (tmp_path / "page.html").read_text()
