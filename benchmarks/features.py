"""Feature extraction compared with plain torch, with its own parts and with reading the cache."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from benchmarks.eager_lite import EagerLite
from benchmarks.harness import Figure, Timed, interleaved, speed_up
from deixis.data.batches.collate import regions_of
from deixis.features.backbones.efficientnet_lite import Lite0, Lite0Int8
from deixis.features.backbones.onnx_graph import package_folder
from deixis.features.store.extract import extract_images
from deixis.features.store.packed import PackedRegions

PICTURES, WIDTH, HEIGHT = 128, 640, 480  # two blocks of extraction
BATCH = 8
ROUNDS = 3
TINY = {"PICTURES": 4, "BATCH": 2, "ROUNDS": 1}


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = _draw(folder / "pictures")
        lite, eager = Lite0Int8(), _eager()
        pixels = [lite.read(path) for path in paths]
        works = _works(lite, eager, paths, pixels, folder)
        for work in works.values():  # graphs are built and pages are mapped before anything counts
            work()
        timed = dict(zip(works, interleaved(ROUNDS, *works.values()), strict=True))
    parts = Timed(None, timed["decode"].seconds + timed["network"].seconds)
    seen, wanted = timed["network"].result.pooled, timed["eager network"].result.mean((1, 2))
    lengths = np.linalg.norm(seen, axis=1) * np.linalg.norm(wanted, axis=1)
    cosine = float(((seen * wanted).sum(axis=1) / lengths).mean())
    full = float(
        np.abs(Lite0()(pixels).values.ravel() - timed["eager network"].result.ravel()).max()
    )
    return [
        speed_up("lite0's network, times torch eager", timed["network"], timed["eager network"], 8),
        speed_up("extraction, times torch eager", timed["extract"], timed["eager"], 8),
        speed_up("extraction, share of its parts' speed", timed["extract"], parts, 0.9),
        speed_up("reading the cache, times extraction", timed["read"], timed["extract"], 10),
        Figure("eight bits, mean cosine with torch", cosine, 0.98, "higher", ""),
        Figure("32 bits, largest distance from torch", full, 1e-3, "lower", ""),
    ]


def _works(
    lite: Lite0, eager: EagerLite, paths: list[Path], pixels: list[np.ndarray], folder: Path
) -> dict[str, Callable[[], object]]:
    count = 0

    def extract() -> PackedRegions:
        nonlocal count
        count += 1  # a folder that is not there yet: nothing comes from a cache
        return extract_images(lite, paths, folder / f"cache{count}", "made")

    cached = extract_images(lite, paths, folder / "cached", "made")
    return {
        "extract": extract,
        "decode": lambda: [lite.read(path) for path in paths],
        "network": lambda: lite(pixels),
        "eager": lambda: _see(eager, [_opened(path, lite.side) for path in paths]),
        "eager network": lambda: _see(eager, pixels),
        "read": lambda: [
            regions_of(cached, np.arange(start, start + BATCH))
            for start in range(0, PICTURES, BATCH)
        ],
    }


def _eager() -> EagerLite:
    folder = package_folder(Lite0.package, "lite0") / "models"
    return EagerLite(next(folder.glob("*.pth")))


def _opened(path: Path, side: int) -> np.ndarray:
    """A picture as everybody opens one: decoded whole, then pressed into the square."""
    with Image.open(path) as picture:
        square = picture.convert("RGB").resize((side, side), Image.Resampling.BICUBIC)
    return np.asarray(square)


def _see(eager: EagerLite, pixels: list[np.ndarray]) -> np.ndarray:
    with torch.inference_mode():
        batches = [pixels[start : start + BATCH] for start in range(0, len(pixels), BATCH)]
        maps = [eager(torch.from_numpy(np.stack(batch))) for batch in batches]
    return torch.cat(maps).permute(0, 2, 3, 1).numpy()


def _draw(folder: Path) -> list[Path]:
    """Simulated photographs: smooth noise of many sizes, saved as a camera would."""
    folder.mkdir()
    random = np.random.default_rng(0)
    paths = [folder / f"{number:03}.jpg" for number in range(PICTURES)]
    for path in paths:
        layers = [random.integers(0, 256, (side, side, 3), dtype=np.uint8) for side in (4, 16, 64)]
        grown = [Image.fromarray(layer).resize((WIDTH, HEIGHT)) for layer in layers]
        Image.blend(Image.blend(grown[0], grown[1], 0.4), grown[2], 0.2).save(path, quality=90)
    return paths
