"""The mean of the places, then a small network."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.heads.pooling import MeanPool


class MeanMLP(MeanPool):
    """The mean over the places that exist, then two layers with ReLU, then unit length.

    *Formula*: ``unit(Norm(W₂ ReLU(W₁ mean)))``; the batch normalisation is optional.
    *Paper*: the pooler of text + trace 2021 (hidden 2048, dropout 0.3), which has no
    normalisation; small models learn far sooner with it.
    """

    def __init__(self, dim: int, hidden: int, dropout: float, *, normalise: bool) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(dim, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, dim)
        )
        self.norm = nn.BatchNorm1d(dim) if normalise else nn.Identity()

    def pool(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item dim"]:
        """Average, then transform."""
        pooled: Tensor = self.norm(self.network(super().pool(places, mask)))
        return pooled
