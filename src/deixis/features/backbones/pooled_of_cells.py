"""Whole-picture vectors out of cells that are already extracted."""

from dataclasses import dataclass

import numpy as np

from deixis.features.backbones.cells import Cells, CellsInt8
from deixis.features.backbones.combined import WHOLE, CombinedBackbones
from deixis.features.store.packed import PackedRegions, offsets_of


@dataclass(frozen=True)
class PooledOfCells:
    """What several networks make of whole pictures, read from the features of ``cells``.

    Both run the same networks over the same pictures, which is most of what extraction costs.
    """

    backbone: CombinedBackbones
    cells: Cells

    @property
    def name(self) -> str:
        """The name of the backbone whose features these are."""
        return self.backbone.name

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with: nothing differs."""
        return self.backbone.identity()

    def of_fine(self, fine: PackedRegions) -> PackedRegions:
        """One region per picture from features with cells, or none where a picture is broken."""
        assert fine.pooled is not None, "cells come with whole-picture vectors"
        there = np.diff(fine.offsets) > 0
        boxes = np.tile(np.array(WHOLE, np.float32), (int(there.sum()), 1))
        pooled = np.asarray(fine.pooled, np.float32)
        return PackedRegions(pooled[there], offsets_of(there.astype(np.int64)), boxes, pooled)


def pooled_of_cells(backbone: object) -> PooledOfCells | None:
    """The same backbone reading from cells, where there are cells that give its vectors."""
    if not isinstance(backbone, CombinedBackbones):
        return None
    for cells in (Cells(), CellsInt8()):
        if cells.pooled_as == backbone.name:
            return PooledOfCells(backbone, cells)
    return None
