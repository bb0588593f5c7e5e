"""Which integer kernels of ONNX Runtime compute correctly on this machine, tested once.

Some processors, and some virtual machines, end a program that uses instructions they announce, and
some kernels overflow. So a child process multiplies the largest numbers there are and compares;
what it found is kept in the user's cache, by processor and version.
"""

import json
import platform
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import numpy as np

from deixis.files import json_hash, write_json
from deixis.neighbours.integer_product import NODE, IntegerProduct, Layout
from deixis.paths import cache_folder

LAYOUTS: tuple[Layout, ...] = ("signed", "unsigned")  # the faster first
SECONDS = 60


def integer_layout() -> Layout | None:
    """The fastest layout whose sums are right here; None when there is none."""
    # The flags too: some virtual machines give processors of several kinds one name.
    machine = [_field("model name"), _field("flags"), platform.machine()]
    machine += [version("onnxruntime"), NODE]
    path = cache_folder() / f"integer-layout-{json_hash(machine)[:16]}.json"
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))["layout"]
        return kept if kept in LAYOUTS else None
    except (OSError, ValueError, KeyError):
        pass
    layout = next((layout for layout in LAYOUTS if _works(layout)), None)
    with suppress(OSError):
        write_json(path, {"layout": layout, "machine": machine})
    return layout


def processor_name() -> str:
    """The processor's name, where the system reports it."""
    return _field("model name") or platform.processor() or platform.machine()


def _field(name: str) -> str:
    """What Linux says of the first processor; empty elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), "")


def _works(layout: Layout) -> bool:
    try:
        command = [sys.executable, "-m", "deixis.neighbours.integer_layout", layout]
        done = subprocess.run(command, check=False, capture_output=True, timeout=SECONDS)
        return done.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def sums_are_right(layout: Layout) -> bool:
    """Whether products of the largest and of random numbers are computed correctly."""
    random = np.random.default_rng(0)
    for dim, rows in ((512, 300), (1025, 33), (7, 5)):
        left = random.integers(-127, 128, (5, dim)).astype(np.int8)
        right = random.integers(-127, 128, (dim, rows)).astype(np.int8)
        left[0], left[1], right[:, 0], right[:, 1] = 127, -127, 127, -127
        wanted = (left.astype(np.int64) @ right.astype(np.int64)).astype(np.float32)
        scale = random.normal(size=rows).astype(np.float32)
        room = np.empty(wanted.size, np.float32)
        if not np.array_equal(IntegerProduct(right, scale, layout)(left, room), wanted * scale):
            return False
    return True


if __name__ == "__main__":
    sys.exit(0 if sums_are_right("signed" if sys.argv[1] == "signed" else "unsigned") else 1)
