"""Cells of a picture, each mapped into the space of phrases."""

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.features.places.cell_grid import CELLS
from deixis.features.places.region_cells import cell_weights, is_grid
from deixis.heads.l2_normalise import l2_normalise
from deixis.types import Regions, Tokens


class CellProjection(nn.Module):
    """One linear map for all cells; in training a picture loses the same channels in every cell.

    Dropping them cell by cell would let the neighbours, which see nearly the same, fill the gap.
    Regions that are no grid of 9 x 9 are brought onto it by their boxes. Of several members
    each has ``dim`` numbers of its own, at unit length.
    """

    def __init__(self, size: int, dim: int, dropout: float, members: int = 1) -> None:
        super().__init__()
        self.cell = nn.Linear(size, members * dim)
        self.dropout, self.members = dropout, members

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Map every cell."""
        assert isinstance(batch, Regions)
        values = batch.values
        if self.training and self.dropout:
            kept = torch.full_like(values[:, :1], 1.0 - self.dropout)
            values = values * (torch.bernoulli(kept) / (1.0 - self.dropout))
        cells, mask = on_cells(self.cell(values), batch)
        return l2_normalise(cells.unflatten(-1, (self.members, -1))).flatten(-2), mask


def on_cells(
    values: Float[Tensor, "item place dim"], batch: Regions
) -> tuple[Float[Tensor, "item cell dim"], Bool[Tensor, "item cell"]]:
    """Vectors of regions averaged into cells. The map before it is linear, so the order is free."""
    boxes = None if batch.boxes is None else batch.boxes.cpu().numpy()
    mask = batch.mask.cpu().numpy()
    if mask.all() and is_grid(values.shape[1], None if boxes is None else boxes[0]):
        return values, batch.mask
    weights = np.zeros((len(values), CELLS, values.shape[1]), np.float32)
    for image, real in enumerate(mask):
        weights[image][:, real] = cell_weights(None if boxes is None else boxes[image][real])
    cells = torch.from_numpy(weights).to(values) @ values
    return cells, torch.ones(cells.shape[:2], dtype=torch.bool, device=cells.device)
