"""Every verb that prints a result prints JSON when asked, and nothing else on its output."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs
from made import made_pictures

load_verbs()
NO_RESULT = {"demo", "mcp", "serve"}  # they talk to people or programs, and go on
# Run with --json by another test, which has what they need: a folder of towers, a bucket, minutes.
ELSEWHERE = {
    "adopt": "cli/test_adopt.py",
    "attention": "explanation/test_attention_view.py",
    "collect": "scale/test_remote_commands.py",
    "failures": "cli/test_label_verbs.py",
    "pack": "recipes/packing/test_packaging.py",
    "pull": "scale/test_remote_commands.py",
    "push": "scale/test_remote_commands.py",
    "quantise": "features/graphs/test_int8_graphs.py",
}


def verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield " ".join(path), command
        return
    for name, one in below.items():
        yield from verbs(one, (*path, name))


VERBS = dict(verbs(typer.main.get_command(app)))


@pytest.mark.parametrize("verb", sorted(set(VERBS) - NO_RESULT))
def test_a_verb_takes_json(verb):
    options = {name for parameter in VERBS[verb].params for name in parameter.opts}
    assert "--json" in options


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with two trained runs, scenes, pictures and a library of them."""
    folder = tmp_path_factory.mktemp("json")
    call("table", "tiny", "--tiny", "--runs", folder / "runs", "--threads", 1, "--json")
    call("data", "scenes", folder / "scenes", "--images", 240, "--json")
    made_pictures(folder / "pictures", 3)
    run = folder / "runs/tiny-tiny/vse++-0"
    call("index", folder / "pictures", "-l", folder / "library", "-m", run, "--json")
    return folder


def call(*arguments: object, code: int = 0) -> Any:
    done = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


FIRST, SECOND = "runs/tiny-tiny/vse++-0", "runs/tiny-tiny/vse0-0"
# The verb, what follows it (relative to the place), and a key or length its JSON must have.
CASES: dict[str, tuple[list[str], str]] = {
    "data info": (["@scenes"], "splits"),
    "data check": (["@scenes"], "problems"),
    "data convert": (["@scenes", "@scenes/karpathy.json", "--to", "karpathy"], "target"),
    "data traces": (["@scenes", "@traces.jsonl", "--each", "1", "--image", "regions"], "file"),
    "features": (["@scenes", "--image", "regions"], "images"),
    "train": (["tiny", "--tiny", "--row", "VSE0", "--runs", "@runs"], "measures"),
    "draw": (["tiny", "--runs", "@runs", "--out", "@figures"], ""),
    "compare": ([f"@{FIRST}", f"@{SECOND}"], ""),
    "evaluate": ([f"@{FIRST}", "--split", "val"], "whole split"),
    "cost": ([f"@{FIRST}", f"@{SECOND}", "--split", "val", "--repeats", "1"], ""),
    "rerank": ([f"@{FIRST}", f"@{SECOND}", "--share", "0.5", "--split", "val"], ""),
    "ranks": ([f"@{FIRST}", "--split", "val"], "vse++-0"),
    "mine": ([f"@{FIRST}", "--texts", "5", "--images", "3"], "same_wording"),
    "report": ([f"@{FIRST}", "--out", "@page", "--split", "val"], "vse++-0"),
    "explain": (["@library", "@pictures/0.png", "a red ball"], "words"),
    "search": (["a red ball", "-l", "@library"], "hits"),
    "status": (["-l", "@library"], "problems"),
    "verify": (["--library", "@library"], "damages"),
    "export": ([f"@{SECOND}"], "folder"),
    "forget": (["@pictures", "-l", "@library"], "left"),  # last: the others search its pictures
}


def test_every_verb_is_run_here_or_said_to_be_run_elsewhere():
    assert set(VERBS) == {*CASES, *NO_RESULT, *ELSEWHERE, "table", "index", "data scenes"}
    for verb, file in ELSEWHERE.items():
        test = (Path(__file__).parents[1] / file).read_text(encoding="utf-8")
        assert re.search(rf'"{verb}"[^)]*(\([^)]*\)[^)]*)*"--json"', test), (
            f"{file} does not run {verb}"
        )


@pytest.mark.parametrize("verb", CASES)
def test_a_verb_prints_json_and_nothing_else(verb, place):
    given, key = CASES[verb]
    found = call(*verb.split(), *(a.replace("@", f"{place}/", 1) for a in given), "--json")
    assert key in found if key else isinstance(found, list | dict)


def test_another_split_gives_other_numbers(place):
    shown = [
        call("evaluate", place / FIRST, "--split", split, "--json")["whole split"]["gallery"]
        for split in ("val", "test")
    ]
    assert shown[0] != shown[1]
    pairs = [
        call("cost", place / FIRST, "--split", split, "--repeats", 1, "--json")
        for split in ("val", "test")
    ]
    assert len({next(iter(found.values()))["pairs"] for found in pairs}) == 2


TIMES = {"query", "whole"}  # CPU seconds of `deixis rerank`


@pytest.mark.parametrize("verb", ["ranks", "rerank"])
def test_the_split_reaches_the_verb(verb, place):
    asked = {
        "ranks": [place / FIRST],
        "rerank": [place / FIRST, place / SECOND, "--share", 0.5],
    }
    judged, test, val = (
        _without_times(call(verb, *asked[verb], *split, "--json"))
        for split in ([], ["--split", "test"], ["--split", "val"])
    )
    assert judged == test, "a run is shown on the split it was judged on"
    assert val != test


def _without_times(found: Any) -> Any:
    """What a split decides: a time is never the same twice."""
    if isinstance(found, dict):
        return {key: _without_times(value) for key, value in found.items() if key not in TIMES}
    return [_without_times(one) for one in found] if isinstance(found, list) else found


def test_a_run_is_judged_by_sentences_and_against_another(place):
    labels = ("entailment", "contradiction")
    lines = [{"file": "00007.jpg", "text": f"a {label}", "label": label} for label in labels]
    path = place / "sentences.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    given = ["evaluate", place / FIRST, "--protocol", "entailment", "--sentences", path]
    found = call(*given, "--against", place / FIRST, "--json")
    assert (found["images"], found["pairs"], found["difference"]) == (1, 1, [0, 0, 0])


def test_brackets_in_a_path_are_printed(place, tmp_path):
    folder = tmp_path / "[red] scenes"
    shutil.copytree(place / "scenes", folder)
    arguments = ["data", "convert", str(folder), str(tmp_path / "[a]")]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.stdout == str(tmp_path / "[a]") + "\n"
