"""The backbone's own whole-image or whole-text vector through a small perceptron."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.errors import RecipeError
from deixis.types import Regions, Tokens


class PooledMLP(nn.Module):
    """A perceptron beside a linear map, both reading the whole item's vector: one place an item.

    *Formula*: ``fc(x) + W₂ drop(relu(W₁ x))`` with ``x = drop(LN(input))``. Dropping input features
    matters most: a few thousand pictures are soon learnt by heart from wide frozen vectors.
    """

    def __init__(self, size: int, hidden: int, dim: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.Sequential(nn.LayerNorm(size), nn.Dropout(dropout))
        self.linear = nn.Linear(size, dim)
        self.mlp = nn.Sequential(
            nn.Linear(size, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, dim)
        )

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item 1 dim"], Bool[Tensor, "item 1"]]:
        """Map every item's vector."""
        if batch.pooled is None:
            raise RecipeError("this encoder reads whole-item vectors, which these features lack")
        x = self.norm(batch.pooled)
        out = (self.linear(x) + self.mlp(x)).unsqueeze(1)
        return out, torch.ones(out.shape[0], 1, dtype=torch.bool, device=out.device)
