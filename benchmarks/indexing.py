"""A folder of photographs becomes a library: beside the path of 32 bits and whole decoding.

``DEIXIS_PHOTOGRAPHS`` may name a folder of real ones; without it they are simulated.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.full_decode_encoder import full_decode_encoder, in_32_bits
from benchmarks.harness import Figure, interleaved, speed_up
from deixis.search.encoders.load_encoder import PHOTOS, load_encoder
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.library_store import LibraryStore

PHOTOGRAPHS = 500
SIZES = ((320, 240), (1600, 1200))
TINY = {"PHOTOGRAPHS": 3}


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours, theirs = load_encoder(PHOTOS), full_decode_encoder(in_32_bits(folder / "run"))
        found = []
        for kind, pictures in _folders(folder).items():
            for encoder in (ours, theirs):  # graphs are loaded before anything counts
                encoder.encode_image([sorted(pictures.iterdir())[0]])
            fast, slow = interleaved(
                1,
                partial(indexed, pictures, folder / f"{kind} ours", ours),
                partial(indexed, pictures, folder / f"{kind} theirs", theirs),
            )
            label = f"indexing {len(list(pictures.iterdir()))} {kind} per core, times 32 bits"
            found.append(speed_up(label, fast, slow, 2.5))
        return [*found, _two_cores(pictures, folder)]


def indexed(pictures: Path, library: Path, encoder: SearchEncoder) -> Path:
    with LibraryStore.open_or_create(library, encoder) as store:
        store.add([pictures], encoder)
    return library


def _two_cores(pictures: Path, folder: Path) -> Figure:
    """How much sooner two cores finish, had they been free; inferred where others use them."""
    found = []
    for cores in (1, 2):
        words = [str(cores), str(pictures), str(folder / f"on{cores}")]
        command = [sys.executable, "-m", "benchmarks.index_on_cores", *words]
        ran = subprocess.run(command, check=True, capture_output=True, text=True)
        found.append(json.loads(ran.stdout))
    one, two = found
    detail = (
        f"without waiting for a core {one['alone']:.1f} s and {two['alone']:.1f} s; elapsed "
        f"{one['elapsed']:.1f} s and {two['elapsed']:.1f} s at load {os.getloadavg()[0]:.1f}"
    )
    goal = 1.7 if len(os.sched_getaffinity(0)) > 1 else None
    return Figure(
        "indexing on two cores, times one", one["alone"] / two["alone"], goal, detail=detail
    )


def _folders(folder: Path) -> dict[str, Path]:
    """Real photographs where some are named; else simulated ones, small and as cameras make them.

    How much is won depends on their size: a large one is mostly decoding.
    """
    named = os.environ.get("DEIXIS_PHOTOGRAPHS")
    if not named:
        return {f"of {w} × {h}": drawn(folder / f"drawn{w}", PHOTOGRAPHS, w, h) for w, h in SIZES}
    (folder / "named").mkdir()
    for path in sorted(Path(named).glob("*.jpg"))[:PHOTOGRAPHS]:
        shutil.copyfile(path, folder / "named" / path.name)
    return {"named photographs": folder / "named"}


def drawn(folder: Path, count: int, width: int, height: int) -> Path:
    """Simulated photographs: smooth noise of many sizes."""
    folder.mkdir()
    random = np.random.default_rng(0)
    for number in range(count):
        layers = [random.integers(0, 256, (side, side, 3), dtype=np.uint8) for side in (4, 16, 64)]
        grown = [Image.fromarray(layer).resize((width, height)) for layer in layers]
        mixed = Image.blend(Image.blend(grown[0], grown[1], 0.4), grown[2], 0.2)
        mixed.save(folder / f"{number:03}.jpg", quality=90)
    return folder
