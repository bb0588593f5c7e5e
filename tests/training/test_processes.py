"""`torchrun -m deixis train` ends where one process does, and only its first process writes."""

import json
import os
import subprocess
import sys

import pytest
import torch
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs
from deixis.errors import DeixisError
from deixis.training.checkpoint import read_tensors
from deixis.training.processes import joined_processes

load_verbs()
RECIPE = """
title = "two processes"
[data]
size = 60
image = "regions"
[train]
length = 6
batch = 16
chunk = 8
optimiser = "sgd"
lr = 0.05
schedule = "constant"
validate_every = 3
[[row]]
label = "vsepp"
method = {name = "vsepp", dim = 16, word_dim = 8}
[[row]]
label = "aoq"
start = "vsepp"
offline = {by = "vsepp", texts = 6, images = 3}
method = {name = "aoq", base = {name = "vsepp", dim = 16, word_dim = 8}}
"""


def by_one(arguments):
    return CliRunner().invoke(app, arguments, catch_exceptions=False).stdout


def by_two(arguments):
    start = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*start, "-m", "deixis", *arguments],
        capture_output=True, text=True, timeout=300, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def train(folder, row, by):
    recipe = folder / "two.toml"
    recipe.write_text(RECIPE)
    arguments = ["train", str(recipe), "--row", row, "--threads", "1", "--runs", str(folder)]
    return folder / "two" / f"{row}-0", by(arguments)


def test_two_processes_train_what_one_trains(tmp_path):
    found = {}
    for name, by in (("one", by_one), ("two", by_two)):
        (tmp_path / name).mkdir()
        for row in ("vsepp", "aoq"):
            run, said = train(tmp_path / name, row, by)
            assert said.count("RSUM") == 1, said
            log = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
            steps = [record["step"] for record in log if "loss" in record]
            assert steps == [1, 2, 3, 4, 5, 6], "every step is logged once"
            found[name, row] = read_tensors(run / "model.safetensors")[0], log[0]["loss"]
    for row in ("vsepp", "aoq"):
        one, two = found["one", row], found["two", row]
        assert abs(one[1] - two[1]) < 1e-4
        for key, value in one[0].items():
            torch.testing.assert_close(two[0][key], value, atol=2e-5, rtol=0)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        ("two", "WORLD_SIZE=two, no number of processes; start with torchrun"),
        ("0", "WORLD_SIZE=0, no number of processes"),
        ("2", "WORLD_SIZE=2 but no RANK; start with torchrun"),
    ],
)
def test_an_environment_no_torchrun_made_is_refused(monkeypatch, count, said):
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.setenv("WORLD_SIZE", count)
    with pytest.raises(DeixisError, match=said), joined_processes():
        pass
