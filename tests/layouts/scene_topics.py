"""What the images of every layout show: two things each, drawn, captioned and detected alike."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from PIL import Image

THINGS = ("man", "dog", "girl", "boat", "street", "field", "ball", "horse")
VERBS = ("runs", "sits", "stands", "plays", "waits")
REGIONS = 36


@dataclass(frozen=True)
class Topic:
    """Two things that stand in one image."""

    first: int
    second: int

    @property
    def captions(self) -> tuple[str, ...]:
        """Five captions, as every corpus of the field has them."""
        one, two = THINGS[self.first], THINGS[self.second]
        return tuple(f"A {one} {verb} near a {two} ." for verb in VERBS)

    @property
    def tags(self) -> tuple[str, ...]:
        """The things as tags."""
        return tuple(dict.fromkeys((THINGS[self.first], THINGS[self.second])))


def topics(count: int, seed: int = 0) -> list[Topic]:
    """As many topics as there are images."""
    drawn = np.random.default_rng(seed).integers(0, len(THINGS), size=(count, 2))
    return [Topic(int(first), int(second)) for first, second in drawn]


def region_values(
    of: Sequence[Topic], width: int, regions: int = REGIONS
) -> Float[ndarray, "image region feature"]:
    """Features of regions that show the things of each image."""
    means = np.random.default_rng(1).normal(size=(len(THINGS), width))
    shown = np.array([(topic.first, topic.second) for topic in of])
    noise = np.random.default_rng(2).normal(0, 0.1, (len(of), regions, width))
    return (means[shown].mean(axis=1)[:, None] + noise).astype(np.float32)


def draw(path: Path, topic: Topic) -> None:
    """A small picture whose colours encode its topic; its name changes it a little."""
    path.parent.mkdir(parents=True, exist_ok=True)
    own = zlib.crc32(path.as_posix().encode())
    picture = Image.new("RGB", (48, 32), (30 * topic.first, own % 256, own // 256 % 256))
    picture.paste((120, 30 * topic.second, 40), (24, 8, 44, 28))
    picture.save(path, format="JPEG")


def write_detections(
    root: Path, files: Sequence[str], of: Sequence[Topic], width: int = 12
) -> None:
    """A detector's output in the folder ``regions``: an ``.npz`` per picture, in pixels."""
    boxes = np.tile(np.array([4, 4, 40, 28], dtype=np.float32), (REGIONS, 1))
    scores = np.linspace(0.9, 0.1, REGIONS)
    for file, values in zip(files, region_values(of, width), strict=True):
        target = (root / "regions" / file).with_suffix(".npz")
        target.parent.mkdir(parents=True, exist_ok=True)
        np.savez(target, features=values, boxes=boxes, scores=scores, width=48, height=32)
