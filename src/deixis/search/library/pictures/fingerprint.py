"""The size of a picture, and a perceptual fingerprint that near-duplicates share.

The fingerprint says of 16 × 16 places whether brightness rises to the right (a difference hash):
scaling, recompressing and small changes of tone leave nearly all of it, another motif does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from deixis.features.store.image_files import PictureSource, open_picture, shared

SIDE = 16
TOGETHER = 256  # pictures compared with all others at once
ALIKE = 16  # bits of 256 that near-duplicates may differ in


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Width and height of the upright picture, and its fingerprint."""

    width: int
    height: int
    print: bytes


def fingerprint_of(path: PictureSource) -> Fingerprint | None:
    """Measure a picture file; None when it cannot be opened as one.

    A picture that was decoded for another reader is measured as it is.
    """
    source = shared(path)
    try:
        picture = source.smallest() or open_picture(source, 2 * SIDE)
    except Exception:  # decoders raise nearly anything on damaged files
        return None
    assert source.size is not None  # it is decoded now
    small = np.asarray(picture.convert("L").resize((SIDE + 1, SIDE), Image.Resampling.BOX))
    bits = np.packbits(small[:, 1:] > small[:, :-1])
    return Fingerprint(*source.size, bits.tobytes())


def distance(one: Fingerprint, other: Fingerprint) -> int:
    """In how many bits two fingerprints differ."""
    return (int.from_bytes(one.print) ^ int.from_bytes(other.print)).bit_count()


def stacked(looks: Sequence[Fingerprint | None]) -> list[list[int]]:
    """Places of pictures in stacks: each under the first one above it that it nearly equals."""
    known = [place for place, look in enumerate(looks) if look is not None]
    prints = np.frombuffer(b"".join(look.print for look in looks if look is not None), np.uint64)
    prints = prints.reshape(len(known), SIDE * SIDE // 64)
    above = {place: place for place in range(len(looks))}
    for start in range(0, len(known), TOGETHER):
        some = prints[start : start + TOGETHER, None] ^ prints
        differ = np.bitwise_count(some).sum(axis=2, dtype=np.int64)
        for number, other in np.argwhere(differ <= ALIKE).tolist():
            # A picture joins the first near-duplicate that heads a stack.
            low, high = known[other], known[start + number]
            if low < high and above[low] == low and above[high] == high:
                above[high] = low
    stacks: dict[int, list[int]] = {}
    for place, first in above.items():
        stacks.setdefault(first, []).append(place)
    return list(stacks.values())
