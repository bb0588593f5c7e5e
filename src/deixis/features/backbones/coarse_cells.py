"""Cells averaged into fewer and larger ones: what methods that compare every cell can afford."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.features.places.cell_grid import CELLS, coarser
from deixis.features.store.boxes import grid_boxes
from deixis.features.store.image_files import PictureSource
from deixis.features.store.packed import PackedRegions, offsets_of


@dataclass(frozen=True)
class CoarseCells:
    """The 81 cells of a backbone as a grid of ``side`` × ``side``, each the mean over its area.

    They are made from the fine cells, so features that are already extracted serve both.
    """

    backbone: Any  # Cells or CellsInt8
    side: int

    @property
    def name(self) -> str:
        """The backbone's name and the grid."""
        return f"{self.backbone.name}:{self.side}x{self.side}"

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with."""
        return {**self.backbone.identity(), "view": f"{self.side}x{self.side}"}

    def read(self, path: PictureSource) -> tuple[Any, ...]:
        """Open one picture."""
        opened: tuple[Any, ...] = self.backbone.read(path)
        return opened

    def __call__(self, pictures: Sequence[tuple[Any, ...]]) -> PackedRegions:
        """Turn opened pictures into few cells each."""
        return self.of_fine(self.backbone(pictures))

    def of_fine(self, fine: PackedRegions) -> PackedRegions:
        """The same from features with 81 cells per image, or none where a picture is broken."""
        there = np.diff(fine.offsets) == CELLS
        cells: Float[ndarray, "image 81 feature"] = np.asarray(fine.values, np.float32)
        cells = cells.reshape(int(there.sum()), CELLS, cells.shape[1])
        few = coarser(cells, self.side).reshape(-1, cells.shape[2])
        boxes = np.tile(grid_boxes(self.side), (int(there.sum()), 1))
        return PackedRegions(few, offsets_of(self.side**2 * there), boxes, fine.pooled)
