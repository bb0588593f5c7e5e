"""Chunks and processes give the gradient of the plain batch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from deixis.data.batches.pairs import PairBatches
from deixis.losses.miners import every
from deixis.losses.objective import Objective, Term
from deixis.losses.triplet import Triplet
from deixis.methods.vsepp import VSEPP
from deixis.training.gradients import Gradients
from deixis.types import Sizes
from made import made_dataset

SIZES = Sizes(region=8, vocabulary=30)


def gradients(chunk: int) -> dict[str, list[float]]:
    torch.manual_seed(0)
    model = VSEPP(dim=16, word_dim=8).model(SIZES)
    objective = Objective(Term("rank", Triplet(0.2, every)))
    batch = PairBatches(made_dataset(), 12, seed=0).at(0)
    Gradients(model, objective, chunk).add(batch, 0, seed=0)
    return {name: p.grad.flatten().tolist() for name, p in model.named_parameters()}


@pytest.mark.parametrize("chunk", [1, 5, 100])
def test_a_batch_in_chunks_has_the_gradient_of_the_whole(chunk):
    whole, chunked = gradients(0), gradients(chunk)
    assert any(any(values) for values in whole.values())
    for name, values in whole.items():
        assert chunked[name] == pytest.approx(values, abs=1e-5), name


def test_two_processes_have_the_gradient_of_one_with_the_joint_batch(tmp_path):
    script = Path(__file__).with_name("two_processes.py")
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2"]
    command += ["--master-port=29577", str(script), str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    whole = gradients(0)
    for rank in (0, 1):
        found = json.loads((tmp_path / f"{rank}.json").read_text())
        for name, values in whole.items():
            assert found[name] == pytest.approx(values, abs=1e-5), name
