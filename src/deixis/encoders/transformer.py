"""A transformer encoder over padded sequences."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class Transformer(nn.Module):
    """A linear map into the model's width, then pre-norm self-attention layers.

    *Formula*: ``x = W input``, then per layer ``x + Attention(Norm(x))`` and ``x + FFN(Norm(x))``
    with an FFN four times as wide, and a last ``Norm``. Padding is never attended to.
    *Relations*: it knows no order; a body that needs order adds position codes to the input.
    Without layers only the linear map is left: a bag of places.
    """

    def __init__(self, size: int, dim: int, depth: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.enter = nn.Linear(size, dim)
        self.layers = nn.ModuleList(SelfAttentionLayer(dim, heads, dropout) for _ in range(depth))
        self.norm = nn.LayerNorm(dim) if depth else nn.Identity()

    def forward(
        self, inputs: Float[Tensor, "item place size"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item place dim"]:
        """Contextual vectors of the places."""
        places = self.enter(inputs)
        for layer in self.layers:
            places = layer(places, mask)
        return self.norm(places)


class SelfAttentionLayer(nn.Module):
    """Pre-norm self-attention, then a feed-forward layer.

    *Relations*: torch's own layer computes the same, but its ONNX graph has a fixed number of
    places (``test_transformer`` shows both), and an exported run must embed queries of any length.
    """

    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.norm_attend = nn.LayerNorm(dim)
        self.norm_feed = nn.LayerNorm(dim)
        self.inward = nn.Linear(dim, 3 * dim)
        self.outward = nn.Linear(dim, dim)
        self.feed = nn.Sequential(
            nn.Linear(dim, 4 * dim), nn.ReLU(), nn.Dropout(dropout), nn.Linear(4 * dim, dim)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item place dim"]:
        """Self-attention, then a feed-forward layer, each added to its input."""
        attended = self._attend(self.norm_attend(places), mask)
        places = places + self.dropout(attended)
        fed: Tensor = places + self.dropout(self.feed(self.norm_feed(places)))
        return fed

    def _attend(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item place dim"]:
        shape = (*places.shape[:2], 3, self.heads, -1)
        query, key, value = self.inward(places).view(shape).permute(2, 0, 3, 1, 4)
        # An item without any place attends to its padding: a softmax over nothing is NaN.
        seen = mask | ~mask.any(dim=1, keepdim=True)
        out = scaled_dot_product_attention(query, key, value, seen[:, None, None, :])
        return self.outward(torch.flatten(out.transpose(1, 2), 2))
