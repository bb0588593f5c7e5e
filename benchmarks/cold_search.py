"""`deixis search` from its start to its end: beside the version before eight bits, and 32 bits."""

import os
import resource
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np

import deixis
from benchmarks.full_decode_encoder import full_decode_encoder, in_32_bits
from benchmarks.harness import Figure, Timed
from benchmarks.indexing import drawn, indexed
from deixis.search.encoders.load_encoder import PHOTOS, load_encoder

ROOT, SOURCES = Path(__file__).parents[1], Path(deixis.__file__).parents[1]
EARLIER = "053396b8d9f249f947c87cd3acf78c5228d1077f"  # a commit, or "" for none
PICTURES, WIDTH, HEIGHT, SEARCHES = 64, 320, 240, 9
TINY = {"PICTURES": 3, "SEARCHES": 1, "EARLIER": ""}


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pictures = drawn(folder / "pictures", PICTURES, WIDTH, HEIGHT)
        ours = indexed(pictures, folder / "ours", load_encoder(PHOTOS))
        wide = indexed(pictures, folder / "wide", full_decode_encoder(in_32_bits(folder / "run")))
        asked = {"ours": (SOURCES, ours), "the same in 32 bits": (SOURCES, wide)}
        earlier = earlier_sources(folder / "sources")
        if earlier is not None:
            asked["the version before eight bits"] = (earlier, folder / "before")
            verb(earlier, "index", str(pictures), "--library", str(folder / "before"))
        fast, *others = timed(asked).items()
    return [beside(name, fast[1], other) for name, other in others]


def earlier_sources(folder: Path) -> Path | None:
    """That version out of the repository's history; None without the history."""
    command = ["git", "-C", str(ROOT), "archive", EARLIER, "src"]
    found = subprocess.run(command, check=False, capture_output=True)
    if found.returncode:
        return None
    with tarfile.open(fileobj=BytesIO(found.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def timed(asked: dict[str, tuple[Path, Path]]) -> dict[str, Timed]:
    """The median CPU time of a search by each of some sources; each ran once before it counts."""
    spent: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(SEARCHES + 1):
        for name, (sources, library) in asked.items():
            before = children()
            verb(sources, "search", "a dog running in the snow", "--library", str(library))
            spent[name].append(children() - before)
    return {name: Timed(None, float(np.median(each[1:]))) for name, each in spent.items()}


def children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def verb(sources: Path, *words: str) -> None:
    """Run a verb; bytecode is kept, as an installed package has it."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    bytecode = str(Path(tempfile.gettempdir()) / "deixis-bytecode")
    variables = kept | {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONPATH": str(sources)}
    command = [sys.executable, "-c", "from deixis.cli import main; main()", *words]
    subprocess.run(command, check=True, capture_output=True, env=variables)


def beside(name: str, ours: Timed, other: Timed) -> Figure:
    detail = f"{1e3 * ours.seconds:.0f} ms beside {1e3 * other.seconds:.0f} ms"
    goal = 0.6 if "before" in name else None
    value = ours.seconds / other.seconds
    return Figure(f"a cold search, share of {name}", value, goal, "lower", detail=detail)
