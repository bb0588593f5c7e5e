"""Cells averaged into fewer and larger ones: what methods that compare every cell can afford."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

from deixis.features.backbones.cells import Cells
from deixis.features.places.cell_grid import CELLS, coarser
from deixis.features.store.boxes import grid_boxes
from deixis.features.store.image_files import PictureSource
from deixis.features.store.packed import PackedRegions, offsets_of
from deixis.shapes import Float


@dataclass(frozen=True)
class CoarseCells:
    """The 81 cells of a backbone as a grid of ``side`` × ``side``, each the mean over its area.

    They are made from the fine cells, so features that are already extracted serve both.
    """

    cells: Cells
    side: int

    @property
    def name(self) -> str:
        """The backbone's name and the grid."""
        return f"{self.cells.name}:{self.side}x{self.side}"

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with."""
        return {**self.cells.identity(), "view": f"{self.side}x{self.side}"}

    def read(self, path: PictureSource) -> tuple[Any, ...]:
        """Open one picture."""
        opened: tuple[Any, ...] = self.cells.read(path)
        return opened

    def __call__(self, pictures: Sequence[tuple[Any, ...]]) -> PackedRegions:
        """Turn opened pictures into few cells each."""
        return self.of_fine(self.cells(pictures))

    def of_fine(self, fine: PackedRegions) -> PackedRegions:
        """The same from features with 81 cells per image, or none where a picture is broken."""
        there = np.diff(fine.offsets) == CELLS
        values: Float[ndarray, "image 81 feature"] = np.asarray(fine.values, np.float32)
        values = values.reshape(int(there.sum()), CELLS, values.shape[1])
        few = coarser(values, self.side).reshape(-1, values.shape[2])
        boxes = np.tile(grid_boxes(self.side), (int(there.sum()), 1))
        return PackedRegions(few, offsets_of(self.side**2 * there), boxes, fine.pooled)
