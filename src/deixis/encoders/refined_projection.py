"""Frozen features, projected and then refined: the image body of DivE."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.projection import frozen_states
from deixis.types import Regions, Tokens


class RefinedProjection(nn.Module):
    """A linear map into the joint space with a narrow residual branch behind it.

    *Formula*: ``y = W x + b``, ``y + W₂ relu(BN(W₁ y + b₁)) + b₂``, the branch half as wide as y.
    *Relations*: VSE∞'s branch reads x instead of y.
    *Paper*: DivE 2023. The published code normalises with the statistics of padded rows too and
    runs the branch twice per step, once for the places and once for the whole; here padding is left
    out and one pass serves both.
    """

    def __init__(self, size: int, dim: int, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(size, dim)
        self.branch = nn.Sequential(
            nn.Linear(dim, dim // 2), nn.BatchNorm1d(dim // 2), nn.ReLU(), nn.Linear(dim // 2, dim)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Project and refine every place that exists; the others stay zero."""
        places = self.linear(frozen_states(batch)[batch.mask])
        refined = self.dropout(places + self.branch(places))
        out = refined.new_zeros(*batch.mask.shape, refined.shape[1])
        return out.masked_scatter(batch.mask.unsqueeze(2), refined), batch.mask
