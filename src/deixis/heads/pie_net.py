"""A set of vectors per item, by independent attentions over its places: PIE-Net."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.heads.item_summary import ItemSummary
from deixis.heads.l2_normalise import l2_normalise
from deixis.types import Embedding


class PIE(nn.Module):
    """K attentions each pick what the whole item is missing; a set of K variations of it.

    *Formula*: ``A = softmax over places (W₂ tanh(W₁ x))``, ``r_k = sigmoid(W (Σ_n A_nk x_n) + b)``
    (kept as the residual), ``set = unit(LN(whole + r_k))``.
    *Relations*: attentions do not compete for places, as those of Slots do.
    *Paper*: PVSE 2019.
    """

    def __init__(
        self, size: int, dim: int, parts: int, whole: ItemSummary, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.whole = whole
        self.hidden = nn.Linear(size, size // 2, bias=False)
        self.choose = nn.Linear(size // 2, parts, bias=False)
        self.project = nn.Linear(size, dim)
        for linear in (self.hidden, self.choose, self.project):
            nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(self.project.bias)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(dim)

    def forward(
        self, places: Float[Tensor, "item place size"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Vary the whole item by what each attention picks."""
        places = places.masked_fill(~mask.unsqueeze(2), 0.0)
        picked = self.attention(places, mask) @ places
        residual = self.dropout(self.project(picked).sigmoid())
        vectors = l2_normalise(self.norm(self.whole(places, mask).unsqueeze(1) + residual))
        exists = torch.ones(vectors.shape[:2], dtype=torch.bool, device=vectors.device)
        return Embedding(vectors, exists, residual=residual)

    def attention_by_iteration(
        self, places: Float[Tensor, "item place size"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item round part place"]:
        """The attention of each element, as the one round there is."""
        return self.attention(places, mask).unsqueeze(1)

    def attention(
        self, places: Float[Tensor, "item place size"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item part place"]:
        """The attention of each element over the places."""
        logits = self.choose(self.hidden(places).tanh()).transpose(1, 2)
        return logits.masked_fill(~mask.unsqueeze(1), float("-inf")).softmax(dim=2)
