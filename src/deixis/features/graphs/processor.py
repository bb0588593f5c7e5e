"""What the processor can do that decides how graphs are run."""

from functools import cache
from pathlib import Path

FLAGS = {"avx512_vnni", "avx_vnni", "avxvnniint8", "amx_int8"}
CPUINFO = Path("/proc/cpuinfo")


@cache
def multiplies_bytes() -> bool:
    """Whether sums of byte products are computed in one instruction that cannot saturate.

    Known on Linux; elsewhere the answer is no, which costs time and never exactness.
    """
    try:
        lines = CPUINFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.startswith("flags")), "")
    return not FLAGS.isdisjoint(flags.split())
