"""A recipe runs from Python as it does from the command: the same function, the same numbers."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import deixis
from deixis.cli.command import app, load_verbs
from deixis.errors import RecipeError, RunError
from deixis.recipes.events import Counted, DataReady, Stepped
from deixis.recipes.run_row import claim

load_verbs()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    runs, events = tmp_path_factory.mktemp("runs"), []
    report = deixis.Recipe.load("tiny", tiny=True).run(runs, events.append)
    return runs, report, events


def test_the_command_prints_what_the_function_returns(ran):
    runs, report, _ = ran
    arguments = ["table", "tiny", "--tiny", "--runs", str(runs), "--json"]
    printed = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert json.loads(printed.stdout) == json.loads(json.dumps(report.record()))


def test_events_name_the_data_then_every_step_of_every_row(ran):
    _, report, events = ran
    ready = [event for event in events if isinstance(event, DataReady)]
    assert [event.corpus for event in ready] == ["scenes"]  # both rows share their data
    steps = [event for event in events if isinstance(event, Stepped) and "loss" in event.record]
    for row in ("VSE++", "VSE0"):
        of_row = [event.record for event in steps if event.row == row]
        assert [record["step"] for record in of_row] == list(range(1, of_row[0]["steps"] + 1))
    assert all(event.done <= event.total for event in events if isinstance(event, Counted))
    assert [line.label for line in report.lines] == ["chance", "VSE++", "VSE0"]


def test_one_row_is_trained_into_the_folder_the_table_reads(ran):
    runs, report, _ = ran
    run = deixis.Recipe.load("tiny", tiny=True).train("VSE0", runs=runs)
    assert run.folder == runs / "tiny-tiny" / "vse0-0"
    assert run.metrics["measures"]["rsum"] == report.lines[2].seeds[0]["rsum"]


def test_an_unknown_recipe_names_those_that_come_with_deixis():
    with pytest.raises(RecipeError, match="no recipe 'tinny'; these come with deixis: .*tiny"):
        deixis.Recipe.load("tinny")
    with pytest.raises(RecipeError, match=r"there is no recipe at nowhere/mine\.toml"):
        deixis.Recipe.load("nowhere/mine.toml")


def test_a_folder_is_kept_for_a_row_once_its_training_has_begun(ran, tmp_path):
    runs, *_ = ran
    row = deixis.Recipe.load("tiny", tiny=True).row("VSE0")
    other = replace(row, train=replace(row.train, lr=0.5))
    with pytest.raises(RunError, match="holds a run with another train"):
        claim(deixis.Run(runs / "tiny-tiny" / "vse0-0"), other, 0)
    free = deixis.Run(tmp_path)  # the first row could not be built, say
    claim(free, row, 0)
    claim(free, other, 0)
    assert free.recipe_row["train"]["lr"] == 0.5
