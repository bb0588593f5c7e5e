"""A mining process that is killed outright leaves what the next one goes on from."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_mining import in_small_steps, made, silent

from deixis.data.batches.mined import OfflineSpec
from deixis.runs.hard_negatives import mining_state
from deixis.runs.hard_negatives.mining import mine, source_of

SPEC = OfflineSpec(texts=7, images=4)

# Mines as fast as the parent reads: after each strip of images it waits for a word.
CHILD = """
import sys
from pathlib import Path
from test_mining_killed import mine_here

def advance(done, total):
    print(done, flush=True)
    sys.stdin.readline()

mine_here(Path(sys.argv[1]), advance)
"""


def mine_here(folder, advance):
    with pytest.MonkeyPatch.context() as patch:
        in_small_steps(patch)
        model, dataset = made()
        return mine(model, dataset, SPEC, source_of("a model", dataset), folder, advance)


@pytest.mark.slow
def test_a_process_killed_while_mining_is_gone_on_from(tmp_path):
    here = Path(__file__).parent
    paths = [str(here), str(here.parents[1]), os.environ.get("PYTHONPATH", "")]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path / "cut")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    with child:
        done = 0
        while done < 12:
            done = int(child.stdout.readline())
            child.stdin.write("\n")
            child.stdin.flush()
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    assert (tmp_path / "cut" / mining_state.FILE).exists()
    steps = []
    again = mine_here(tmp_path / "cut", lambda done, total: steps.append(done))
    whole = mine_here(tmp_path / "whole", silent)
    assert steps[0] >= 12 and steps[-1] == 24 + 72
    np.testing.assert_array_equal(again.texts, whole.texts)
    np.testing.assert_array_equal(again.images, whole.images)
    assert not (tmp_path / "cut" / mining_state.FILE).exists()
