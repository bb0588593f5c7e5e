import json
import time

import numpy as np
import pytest
from benchmarks.__main__ import names
from benchmarks.harness import (
    PEAK,
    RESET,
    Figure,
    Timed,
    agreement,
    extra_memory,
    interleaved,
    record,
    speed_up,
)


def test_works_take_turns_and_the_median_is_kept():
    turns, naps = [], iter([0.0, 0.2, 0.0])

    def spin():
        turns.append("spin")
        end = time.process_time() + next(naps)
        while time.process_time() < end:
            pass

    first, second = interleaved(3, spin, lambda: turns.append("rest") or "done")
    assert turns == ["spin", "rest"] * 3
    assert first.seconds < 0.1  # one slow round of three does not count
    assert second.result == "done"


def test_a_goal_lies_on_one_side():
    assert Figure("faster", 8.0, 8.0).ok
    assert not Figure("faster", 7.9, 8.0).ok
    assert Figure("smaller", 299.0, 300.0, "lower").ok
    assert not Figure("smaller", 301.0, 300.0, "lower").ok
    assert not agreement("equal", [1.0, 2.0], [1.0, 2.1], 1e-9).ok
    assert speed_up("ratio", Timed(None, 2.0), Timed(None, 10.0), 4).value == 5.0


@pytest.mark.skipif(not (RESET.exists() and PEAK.exists()), reason="only Linux reports the peak")
def test_memory_reused_from_earlier_work_counts():
    def work():
        return [np.ones(2**13) for _ in range(640)]  # 40 MB in pieces the allocator keeps

    freed = work()
    above = np.ones(2**13)  # lies behind them, so that freeing alone gives nothing back
    del freed
    assert extra_memory(work) == pytest.approx(40, abs=8)
    assert len(above) == 2**13


def test_machines_read_value_goal_and_ok():
    written = json.loads(record({"made up": [Figure("ratio", 3.0, 2.0)]}, threads=1))
    assert written["threads"] == 1
    figure = written["figures"][0]
    assert (figure["benchmark"], figure["value"], figure["goal"], figure["ok"]) == (
        "made up", 3.0, 2.0, True
    )  # fmt: skip


def test_helpers_are_no_benchmarks():
    assert "evaluation" in names()
    assert "harness" not in names()
