"""Every benchmark runs to its end, at sizes that take seconds, and prints JSON."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.__main__ import names

ROOT = Path(__file__).parents[2]


# A cluster on a busy machine takes minutes to start; loads wait for their clients.
LONG = {"scale": 1200, "load": 600}


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.slow] if one in LONG else []) for one in names()],
)
def test_a_benchmark_prints_json_for_machines(name):
    command = [sys.executable, "-m", "benchmarks", name, "--json", "--tiny"]
    places = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
        timeout=LONG.get(name, 300),
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr  # at such sizes a goal may well be missed
    printed = json.loads(done.stdout)
    assert printed["processor"]
    assert printed["figures"]
    assert {figure["benchmark"] for figure in printed["figures"]} == {name}
    assert all(isinstance(figure["value"], float) for figure in printed["figures"])
    assert all(isinstance(figure["ok"], bool) for figure in printed["figures"])
