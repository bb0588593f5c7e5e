"""CAMP: messages fused into the parts they reach, each through a gate."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from deixis.similarity.camp_messages import (
    AttendedSum,
    KeyedParts,
    MessageSimilarity,
    Met,
    Own,
    as_receivers,
    camp_linear,
    messages_from,
)
from deixis.similarity.part_level import Alignment


class GatedFusion(MessageSimilarity):
    """CAMP: messages enter each part through a gate; the fused sides are pooled and matched.

    *Formula*: gate ``g = σ(v ⊙ t̃)``, ``v̂ = ReLU(F(g ⊙ (v + t̃))) + v`` (or ``v`` and ``t̃``
    concatenated), both sides; pooled by a learned attention; the score is the logit of an MLP on
    ``v* + t*``, or its sigmoid where a hinge needs scores within bounds.
    *Relations*: a vector gate does not pass through F, so every pair costs
    ``2 (regions + words) dim²``; pairs are batched and keys computed once per item.
    *Paper*: CAMP 2019, equations 1–9, and the supplement's section 1.2 with ``attend`` off.
    """

    complexity = "O(N²MD²)"

    def __init__(
        self, dim: int, fusion: Literal["sum", "concat"], *, attend: bool, squash: bool
    ) -> None:
        super().__init__(dim, attend=attend)
        self.fuse_images = FusionGate(dim, fusion)
        self.fuse_texts = FusionGate(dim, fusion)
        self.pool_images = AttendedSum(dim)
        self.pool_texts = AttendedSum(dim)
        self.match = nn.Sequential(camp_linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))
        self.squash = squash

    def meet(self, images: KeyedParts, texts: KeyedParts, *, grid: bool) -> Float[Tensor, "*pair"]:
        """Exchange messages, fuse, pool, match."""
        to_words, to_regions = self.attentions(images, texts, grid=grid)
        v, w = as_receivers(images.vectors, grid=grid), as_receivers(texts.vectors, grid=grid)
        v_mask, w_mask = as_receivers(images.mask, grid=grid), as_receivers(texts.mask, grid=grid)
        gained = self.fuse_images(v, messages_from(to_words, texts.vectors))
        image = self.pool_images(gained, v, v_mask)
        gained = self.fuse_texts(w, messages_from(to_regions, images.vectors))
        text = self.pool_texts(gained, w, w_mask)
        image = image.transpose(0, 1) if grid else image
        logits = self.match(image + text)[..., 0]
        logits = logits if grid else logits[:, 0]
        return logits.sigmoid() if self.squash else logits

    def alignment(self, images: KeyedParts, texts: KeyedParts) -> Alignment:
        """Show how messages are made, and the mean over dimensions of each gate."""
        to_words, to_regions = self.attentions(images, texts, grid=False)
        v, w = as_receivers(images.vectors, grid=False), as_receivers(texts.vectors, grid=False)
        region_gates = gate(v, messages_from(to_words, texts.vectors)).mean(dim=3)
        word_gates = gate(w, messages_from(to_regions, images.vectors)).mean(dim=3)
        return Alignment(to_words[0, 0], to_regions[0, 0], region_gates[0, 0], word_gates[0, 0])


class FusionGate(nn.Module):
    """Lets a message into a part, dimension by dimension, as far as the two agree."""

    def __init__(self, dim: int, fusion: Literal["sum", "concat"]) -> None:
        super().__init__()
        self.fusion = fusion
        self.layer = camp_linear(dim if fusion == "sum" else 2 * dim, dim)

    def forward(self, own: Own, message: Met) -> Met:
        """Gate the part and its message and mix them: what the part gains."""
        let_in = gate(own, message)
        if self.fusion == "concat":
            return self.layer(torch.cat([let_in * own, let_in * message], dim=-1)).relu_()
        if torch.is_grad_enabled():
            return self.layer((own + message) * let_in).relu_()
        # In place where no gradient flows: a block is then still in cache for the layer.
        return self.layer(message.add_(own).mul_(let_in)).relu_()


def gate(own: Own, message: Met) -> Met:
    """How far each dimension of a message is let in: 0 to 1."""
    return (own * message).sigmoid_()
