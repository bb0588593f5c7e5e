"""The backbone's own whole-image or whole-text vector, mapped into the common space."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.errors import RecipeError
from deixis.types import Regions, Tokens


class PooledVector(nn.Module):
    """A map from the whole item's normalised vector: one place per item.

    Features are dropped before the map, not only inside it: a few thousand pictures are soon
    memorised from wide frozen vectors.
    """

    def __init__(self, size: int, dropout: float, mapping: nn.Module) -> None:
        super().__init__()
        self.norm = nn.Sequential(nn.LayerNorm(size), nn.Dropout(dropout))
        self.map = mapping

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item 1 dim"], Bool[Tensor, "item 1"]]:
        """Map every item's vector."""
        if batch.pooled is None:
            raise RecipeError("this encoder reads whole-item vectors, which these features lack")
        out = self.map(self.norm(batch.pooled)).unsqueeze(1)
        return out, torch.ones(out.shape[0], 1, dtype=torch.bool, device=out.device)


def perceptron(size: int, hidden: int, dim: int, dropout: float) -> nn.Module:
    """One hidden layer; without one (``hidden`` 0) a linear map."""
    if not hidden:
        return nn.Linear(size, dim)
    return nn.Sequential(
        nn.Linear(size, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, dim)
    )
