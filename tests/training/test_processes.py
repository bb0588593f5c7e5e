"""`torchrun -m deixis train` ends where one process does, and only its first process writes."""

import json
import os
import subprocess
import sys

import torch

from deixis.training.checkpoint import read_tensors

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


def train(folder, row, *start):
    recipe = folder / "two.toml"
    recipe.write_text(RECIPE)
    command = [*start, "-m", "deixis", "train", str(recipe), "--row", row, "--threads", "1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(folder.parent)}
    done = subprocess.run(
        [*command, "--runs", str(folder)],
        capture_output=True, text=True, timeout=300, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "two" / f"{row}-0", done.stdout


def test_two_processes_train_what_one_trains(tmp_path):
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2")
    found = {}
    for name, start in (("one", (sys.executable,)), ("two", (*torchrun, "--standalone"))):
        (tmp_path / name).mkdir()
        for row in ("vsepp", "aoq"):
            run, said = train(tmp_path / name, row, *start)
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
