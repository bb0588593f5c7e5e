"""Index a folder on some cores and print seconds: elapsed, and elapsed had a core been free.

``python -m benchmarks.index_on_cores CORES PICTURES LIBRARY``. On a machine that others use,
elapsed time says how busy they were. Linux counts how long each thread ran and how long it was
ready but had no core; what the busiest thread waited is taken from the elapsed time.
"""

import json
import os
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

from deixis.search.library.library import Library

TASKS = Path("/proc/self/task")


def main(cores: int, pictures: Path, folder: Path) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    library = Library(folder)
    library.encoder.encode_image([sorted(pictures.iterdir())[0]])  # graphs are loaded
    before, after = _counted(), {}
    threading.Thread(target=_watch, args=(after,), daemon=True).start()
    start = time.monotonic()
    library.add(pictures)
    elapsed = time.monotonic() - start
    spent = [(ran - before[t][0], waited - before[t][1]) for t, (ran, waited) in after.items()]
    print(json.dumps({"elapsed": elapsed, "alone": elapsed - max(spent)[1]}))


def _watch(after: dict[str, tuple[float, float]]) -> None:
    """Count again and again: threads end, and their counts vanish with them."""
    while True:
        after.update(_counted())
        time.sleep(0.02)


def _counted() -> dict[str, tuple[float, float]]:
    """Seconds each thread ran, and waited for a core; nothing for one not known."""
    found: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for task in TASKS.iterdir():
        try:
            ran, waited, _ = (task / "schedstat").read_text(encoding="utf-8").split()
        except OSError:
            continue
        found[task.name] = int(ran) / 1e9, int(waited) / 1e9
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
