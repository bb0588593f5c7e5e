"""Packed features as padded numpy arrays, ready to become a network's input."""

from collections.abc import Container

import numpy as np
from numpy import ndarray

from deixis.features.store.packed import PackedRegions, PackedTokens
from deixis.shapes import Bool, Float32, Int


def padded_rows(
    offsets: Int[ndarray, " item_plus_one"], items: Int[ndarray, " item"]
) -> tuple[Int[ndarray, "item place"], Bool[ndarray, "item place"]]:
    """The row behind each place of some items, and which places exist."""
    starts, counts = offsets[items], offsets[items + 1] - offsets[items]
    places = np.arange(max(1, counts.max(initial=1)))
    mask = places < counts[:, None]
    return np.where(mask, starts[:, None] + places, 0), mask


def gather_rows(
    values: ndarray, rows: Int[ndarray, "item place"], mask: Bool[ndarray, "item place"]
) -> Float32[ndarray, "item place feature"]:
    """Values of the rows behind each place; zeros where there is none."""
    padded = np.zeros((*rows.shape, values.shape[1]), dtype=np.float32)
    padded[mask] = values[rows[mask]]
    return padded


def padded_arrays(
    packed: PackedRegions | PackedTokens, left_out: Container[str] = ()
) -> dict[str, ndarray]:
    """All items of a pack, padded to the longest, by the names of ``Regions`` and ``Tokens``.

    Values and boxes may be left out: many cells take a while to pad.
    """
    rows, mask = padded_rows(packed.offsets, np.arange(len(packed)))
    arrays: dict[str, ndarray] = {"mask": mask}
    if isinstance(packed, PackedTokens):
        arrays["ids"] = np.where(mask, packed.ids[rows], 0).astype(np.int64)
    for name in ("values", "boxes"):
        rowed = getattr(packed, name, None)
        if rowed is not None and name not in left_out:
            arrays[name] = gather_rows(rowed, rows, mask)
    if packed.pooled is not None:
        arrays["pooled"] = np.asarray(packed.pooled, dtype=np.float32)
    return arrays
