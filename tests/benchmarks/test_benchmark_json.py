"""Every benchmark runs to its end, at sizes that take seconds, and prints JSON."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.__main__ import names

ROOT = Path(__file__).parents[2]


# A cluster on a busy machine takes minutes to start; loads wait for their clients.
LONG = {"scale": 1200, "load": 600}
# Reads the width of another benchmark's sets when it is imported, before that may be tiny.
APART = {"shard_recall"}
TOGETHER = [name for name in names() if name not in {*LONG, *APART}]


def printed_by(*asked: str) -> dict[str, Any]:
    """The JSON that benchmarks print when they run in one process."""
    command = [sys.executable, "-m", "benchmarks", *asked, "--json", "--tiny"]
    places = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
        timeout=sum(LONG.get(name, 300) for name in asked),
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr  # at such sizes a goal may well be missed
    printed = json.loads(done.stdout)
    assert printed["processor"]
    return printed


@pytest.fixture(scope="module")
def short() -> dict[str, Any]:
    return printed_by(*TOGETHER)


def has_figures_of(printed: dict[str, Any], name: str) -> None:
    figures = [figure for figure in printed["figures"] if figure["benchmark"] == name]
    assert figures
    assert all(isinstance(figure["value"], float) for figure in figures)
    assert all(isinstance(figure["ok"], bool) for figure in figures)


@pytest.mark.parametrize("name", TOGETHER)
def test_a_benchmark_prints_json_for_machines(name, short):
    has_figures_of(short, name)


def test_nothing_else_is_printed(short):
    assert {figure["benchmark"] for figure in short["figures"]} == set(TOGETHER)


@pytest.mark.parametrize(
    "name", [*APART, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)]
)
def test_a_benchmark_alone_prints_json_for_machines(name):
    printed = printed_by(name)
    has_figures_of(printed, name)
    assert {figure["benchmark"] for figure in printed["figures"]} == {name}
