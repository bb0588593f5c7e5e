"""Cells for pointing: two layers of each network on one grid, of a picture and its mirror image."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy import ndarray

from deixis.features.backbones.efficientnet_lite import Lite0, Lite0Int8, Lite2, Lite2Int8
from deixis.features.places.cell_grid import CELLS, SIDE, mean_of_mirrored, on_grid
from deixis.features.store.boxes import grid_boxes
from deixis.features.store.image_files import PictureSource, mirror_image, shared
from deixis.features.store.packed import PackedRegions, offsets_of
from deixis.files import json_hash
from deixis.shapes import Float

CELL_FEATURES = 1  # raise when the same maps make other cells
MIDDLE = 0.7  # weight of the finer layer beside the last one


@dataclass(frozen=True)
class Cells:
    """EfficientNet-Lite0 and Lite2 as a 9 x 9 grid, and their whole-picture vectors.

    Each network gives its last layer and its last layer of stride 16, which sees finer detail. A
    cell is the mean over the picture and its mirror image turned back. Each layer's part of a cell
    is normalised to mean 0 and variance 1. The whole-picture vectors are those of
    ``lite0:both+lite2:both``: one pass serves the text score and the place score.
    """

    name: ClassVar[str] = "cells"
    networks: tuple[Any, ...] = (Lite0(), Lite2())

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with."""
        each = [network.identity() for network in self.networks]
        own = {"cells": CELL_FEATURES, "side": SIDE, "middle": MIDDLE}
        keys = ("weights", "preprocessing")
        return {key: json_hash([own, *({**one, "of": key} for one in each)]) for key in keys}

    @property
    def pooled_as(self) -> str:
        """The backbone that gives the same whole-picture vectors, bit for bit."""
        return "+".join(f"{network.name}:both" for network in self.networks)

    def read(self, path: PictureSource) -> tuple[Any, ...]:
        """Open one picture as each network wants it, decoding it once."""
        picture = shared(path)
        return tuple(network.read(picture) for network in self.networks)

    def __call__(self, pictures: Sequence[tuple[Any, ...]]) -> PackedRegions:
        """Turn opened pictures into 81 cells each."""
        columns = zip(*pictures, strict=True) if pictures else [()] * len(self.networks)
        seen = [_both_ways(net, list(own)) for net, own in zip(self.networks, columns, strict=True)]
        cells = np.concatenate([part for parts, _ in seen for part in parts], axis=2)
        pooled = np.concatenate([whole for _, whole in seen], axis=1)
        boxes = np.tile(grid_boxes(SIDE), (len(pictures), 1))
        values = cells.reshape(len(pictures) * CELLS, cells.shape[2])
        return PackedRegions(values, offsets_of([CELLS] * len(pictures)), boxes, pooled)


@dataclass(frozen=True)
class CellsInt8(Cells):
    """The same computed in eight bits."""

    name: ClassVar[str] = "cells-int8"
    networks: tuple[Any, ...] = (Lite0Int8(), Lite2Int8())


def _both_ways(
    network: Any, pictures: list[ndarray]
) -> tuple[list[Float[ndarray, "picture 81 feature"]], Float[ndarray, "picture pooled"]]:
    """The two layers' parts of cells, and the whole-picture vectors."""
    seen, turned = (
        network.maps(views) for views in (pictures, [mirror_image(pixels) for pixels in pictures])
    )
    grid, middle = (
        _normal(on_grid(mean_of_mirrored(getattr(seen, name), getattr(turned, name))))
        for name in ("grid", "middle")
    )
    middle *= MIDDLE
    return [grid, middle], (seen.pooled + turned.pooled) / 2


def _normal(
    cells: Float[ndarray, "picture cell feature"],
) -> Float[ndarray, "picture cell feature"]:
    centred = cells - cells.mean(axis=2, keepdims=True)
    centred /= np.sqrt(centred.var(axis=2, keepdims=True) + 1e-5)
    return centred
