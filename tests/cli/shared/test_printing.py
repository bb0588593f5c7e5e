"""What people read is printed as it is: rich takes no bracket for markup."""

import sys

import pytest

from deixis.cli import command
from deixis.cli.shared import printing, progress
from deixis.errors import DeixisError
from deixis.recipes.results.printed_table import Line, Report

EXTRA = "pip install 'deixis[report]' [/] [bold]x[/bold] [link=y]"


def test_a_line_keeps_its_brackets(capsys):
    printing.say(EXTRA)
    printing.say(EXTRA, mark="[red]", style="yellow")
    progress.report(EXTRA, mark="warning:")
    found = capsys.readouterr()
    assert found.out == f"{EXTRA}\n[red]  {EXTRA}\n"
    assert found.err == f"warning: {EXTRA}\n"


def test_a_table_keeps_its_brackets(capsys):
    printing.print_table("[a]", ["", "[b]"], [["runs/[c]", "[d]"]])
    printing.output.print(
        Report("[t]", "", "[n]", (Line("row [e]", ({"rsum": 1.0},), {}),)).terminal()
    )
    found = capsys.readouterr().out
    assert all(kept in found for kept in ("[a]", "[b]", "runs/[c]", "[d]", "[t]", "[n]", "row [e]"))


def test_an_error_keeps_its_brackets(monkeypatch, capsys):
    def refuse() -> None:
        raise DeixisError(EXTRA)

    monkeypatch.setattr(command, "load_verbs", lambda verbs: None)
    monkeypatch.setattr(command, "app", refuse)
    with pytest.raises(SystemExit, match="1"):
        command.main()
    assert capsys.readouterr().err == f"error: {EXTRA}\n"


@pytest.mark.parametrize("engine", ["[serve]", "[/]"])
def test_a_bad_option_keeps_its_brackets(engine, monkeypatch, capsys):
    command.load_verbs()
    monkeypatch.setattr(sys, "argv", ["deixis", "serve", "--engine", engine])
    with pytest.raises(SystemExit, match="2"):
        command.main()
    assert engine in capsys.readouterr().err
