"""Features of many items in one array each, however many regions or words an item has."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy import ndarray

from deixis.features.trace.boxes_of_trace import WINDOW
from deixis.shapes import Float, Int


@dataclass(frozen=True, slots=True)
class PackedRegions:
    """Region features of n images: image i owns rows ``offsets[i]:offsets[i + 1]``."""

    values: Float[ndarray, "row feature"]
    offsets: Int[ndarray, " image_plus_one"]
    boxes: Float[ndarray, "row 5"] | None = None  # xmin, xmax, ymin, ymax, area in 0..1
    pooled: Float[ndarray, "image pooled"] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class PackedTrace:
    """Trace boxes of n texts: text i owns rows ``offsets[i]:offsets[i + 1]``."""

    boxes: Float[ndarray, "row 5"]
    times: Float[ndarray, "row 2"]  # start and end in seconds
    word: Int[ndarray, " row"]  # the token a box belongs to, -1 for a window of time
    offsets: Int[ndarray, " text_plus_one"]
    window: float = WINDOW  # seconds of trace per box of a window of time


@dataclass(frozen=True, slots=True)
class PackedTokens:
    """Words or word pieces of n texts: text i owns rows ``offsets[i]:offsets[i + 1]``."""

    ids: Int[ndarray, " row"]
    offsets: Int[ndarray, " text_plus_one"]
    values: Float[ndarray, "row feature"] | None = None
    pooled: Float[ndarray, "text pooled"] | None = None
    times: Float[ndarray, "row 2"] | None = None  # start and end in seconds
    trace: PackedTrace | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1


Packed = PackedRegions | PackedTokens


def offsets_of(counts: Sequence[int] | Int[ndarray, " item"]) -> Int[ndarray, " item_plus_one"]:
    """Turn how many rows each item has into where its rows begin."""
    return np.concatenate([[0], np.cumsum(np.asarray(counts, dtype=np.int64))]).astype(np.int64)


def arrays_of(packed: Packed) -> dict[str, ndarray]:
    """The arrays a packed record holds, by field name; absent ones and traces are left out."""
    named = {field.name: getattr(packed, field.name) for field in fields(packed)}
    return {name: array for name, array in named.items() if isinstance(array, ndarray)}
