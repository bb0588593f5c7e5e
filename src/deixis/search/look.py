"""How a picture looks at a glance: its size, and a fingerprint that near-duplicates share.

The fingerprint says of 16 × 16 places whether brightness rises to the right (a difference hash):
scaling, recompressing and small changes of tone leave nearly all of it, another motif does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from deixis.errors import DataError
from deixis.features.images import open_picture

SIDE = 16
TOGETHER = 256  # pictures compared with all others at once
ALIKE = 16  # bits of 256 that near-duplicates may differ in


@dataclass(frozen=True, slots=True)
class Look:
    """Width and height of the upright picture, and its fingerprint."""

    width: int
    height: int
    print: bytes


def look_at(path: Path) -> Look | None:
    """Look at a picture file; None when it cannot be opened as one."""
    try:
        with Image.open(path) as file:
            width, height = file.size
            turned = file.getexif().get(274, 1) >= 5  # EXIF orientations that swap the sides
        grey = open_picture(path, 2 * SIDE).convert("L")
    except (DataError, OSError, ValueError, SyntaxError):
        return None
    small = np.asarray(grey.resize((SIDE + 1, SIDE), Image.Resampling.BOX))
    bits = np.packbits(small[:, 1:] > small[:, :-1])
    return Look(*((height, width) if turned else (width, height)), bits.tobytes())


def distance(one: Look, other: Look) -> int:
    """In how many bits two fingerprints differ."""
    return (int.from_bytes(one.print) ^ int.from_bytes(other.print)).bit_count()


def stacked(looks: Sequence[Look | None]) -> list[list[int]]:
    """Places of pictures in stacks: each under the first one above it that it nearly equals."""
    known = [place for place, look in enumerate(looks) if look is not None]
    prints = np.frombuffer(b"".join(look.print for look in looks if look is not None), np.uint64)
    prints = prints.reshape(len(known), SIDE * SIDE // 64)
    above = {place: place for place in range(len(looks))}
    for start in range(0, len(known), TOGETHER):
        some = prints[start : start + TOGETHER, None] ^ prints
        differ = np.bitwise_count(some).sum(axis=2, dtype=np.int64)
        for number, other in np.argwhere(differ <= ALIKE).tolist():
            # The first of its likes that stands for itself takes a picture in.
            low, high = known[other], known[start + number]
            if low < high and above[low] == low and above[high] == high:
                above[high] = low
    stacks: dict[int, list[int]] = {}
    for place, first in above.items():
        stacks.setdefault(first, []).append(place)
    return list(stacks.values())
