"""No file name and no error may move the cursor, colour the screen or be read as markup."""

import pytest
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs
from deixis.cli.shared.printing import print_json, print_raw, print_table, say
from deixis.cli.shared.visible_text import visible

load_verbs()
NAMES = [
    "[/a].jpg",
    "[bold]x[/]",
    "[[row]]",
    "a\x1b[2J\x1b]0;owned\x07.jpg",
    "\r\u202egpj.exe",
    "\x9b31m",
    "a.jpg\n 0.999  confident  /forged.jpg",
    "a\tb.jpg",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_printed_as_they_are_with_controls_spelt_out(name, capsys):
    say(f"{name}: {name}", mark=name, style="yellow")
    print_table(name, [name], [[name]])
    shown = capsys.readouterr().out
    assert visible(name) in shown
    assert not any(character in shown for character in "\x1b\x07\r\u202e\x9b\t")
    assert not any(line.startswith(" 0.999") for line in shown.splitlines())


@pytest.mark.parametrize("terminal", [True, False])
def test_paths_and_json_reach_tools_as_they_are_and_terminals_spelt_out(
    terminal, capsys, monkeypatch
):
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    for name in NAMES:
        print_raw(name)
        print_json({"path": name})
    shown = capsys.readouterr().out
    assert any(character in shown for character in "\x1b\u202e\x9b") is not terminal


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "dog", "--where", "[/a]"),
        ("search", "dog", "--library", "no[/such]\x1b[31m"),
        ("table", "missing[/].toml"),
        ("status", "--library", "[bold]"),
    ],
)
def test_errors_are_one_sentence_whatever_they_quote(command, arguments, tmp_path):
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr


def test_a_recipe_without_rows_says_so(command, tmp_path):
    (tmp_path / "empty.toml").write_text('title = "x"\n')
    done = command("table", str(tmp_path / "empty.toml"), cwd=tmp_path)
    assert "has no [[row]]" in done.stderr


def test_tables_of_labels_in_brackets_are_printed():
    done = CliRunner().invoke(app, ["data", "show", "[/nothing]"])
    assert "MarkupError" not in repr(done.exception)
