"""Packed features to padded batches."""

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy import ndarray
from torch import Tensor

from deixis.features.store.decoded_pictures import DecodedPictures
from deixis.features.store.packed import PackedRegions, PackedTokens, PackedTrace
from deixis.features.store.padding import gather_rows, padded_rows
from deixis.types import Regions, Tokens, Trace


def regions_of(packed: PackedRegions, images: Int[ndarray, " image"]) -> Regions:
    """The regions of some images, padded to the longest of them."""
    if isinstance(packed, DecodedPictures):
        packed, images = packed.decoded(images), np.arange(len(images))
    rows, mask = padded_rows(packed.offsets, images)
    return Regions(
        values=_gather(packed.values, rows, mask),
        mask=torch.from_numpy(mask),
        boxes=None if packed.boxes is None else _gather(packed.boxes, rows, mask),
        pooled=None if packed.pooled is None else _tensor(packed.pooled[images]),
    )


def tokens_of(packed: PackedTokens, texts: Int[ndarray, " text"]) -> Tokens:
    """The tokens of some texts, padded to the longest of them."""
    rows, mask = padded_rows(packed.offsets, texts)
    ids = np.where(mask, packed.ids[rows], 0).astype(np.int64)
    return Tokens(
        ids=torch.from_numpy(ids),
        mask=torch.from_numpy(mask),
        values=None if packed.values is None else _gather(packed.values, rows, mask),
        pooled=None if packed.pooled is None else _tensor(packed.pooled[texts]),
        times=None if packed.times is None else _gather(packed.times, rows, mask),
        trace=None if packed.trace is None else trace_of(packed.trace, texts),
    )


def trace_of(packed: PackedTrace, texts: Int[ndarray, " text"]) -> Trace:
    """The trace boxes of some texts, padded to the longest of them."""
    rows, mask = padded_rows(packed.offsets, texts)
    word = np.full(rows.shape, -1, dtype=np.int64)
    word[mask] = packed.word[rows[mask]]
    return Trace(
        boxes=_gather(packed.boxes, rows, mask),
        mask=torch.from_numpy(mask),
        times=_gather(packed.times, rows, mask),
        word=torch.from_numpy(word),
    )


def _gather(
    values: ndarray, rows: Int[ndarray, "item place"], mask: Bool[ndarray, "item place"]
) -> Tensor:
    return torch.from_numpy(gather_rows(values, rows, mask))


def _tensor(values: ndarray) -> Tensor:
    return torch.from_numpy(np.asarray(values, dtype=np.float32))
