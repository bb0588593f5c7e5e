"""CAMP as released: the messages of ``camp_released.py``, fused through one gate per part."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from deixis.similarity.camp_messages import camp_linear
from deixis.similarity.camp_released import MessageParts, MessagePassing, released_normalise
from deixis.similarity.part_level import Alignment, PartLevel
from deixis.similarity.similarity import affinity, broadcast_sides
from deixis.types import Embedding


@dataclass(frozen=True)
class FusionParts:
    """The sending side, and the halves of the fusion layers applied to it."""

    speaking: MessageParts
    own: Float[Tensor, "item part dim"]  # as a part that receives
    given: Float[Tensor, "item part dim"]  # as a part that is sent
    gram: Float[Tensor, "item part part"]


class ReleasedFusion(PartLevel[FusionParts]):
    """CAMP as released: unit messages, a scalar gate, concatenation, four heads that pool.

    *Formula*: message ``m`` of unit length, gate ``g = σ(v · m)``, fused
    ``ReLU(g F [v; m]) + v``; pooled, scaled to unit length, concatenated, matched by an MLP whose
    logit is the score.
    *Relations*: ``g F [v; m] = g (F_v v + Σ c F_m t)``: F never meets a pair.
    *Paper*: the code released with CAMP 2019; it differs from the paper's GatedFusion throughout.
    """

    complexity = "O(N²MD²)"
    images_per_block = 4
    texts_per_block = 16
    pairs_per_block = 64

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.messages = MessagePassing(dim)
        self.fuse_images = camp_linear(2 * dim, dim, bias=False)
        self.fuse_texts = camp_linear(2 * dim, dim, bias=False)
        self.pool_images = MultiHeadPool(dim)
        self.pool_texts = MultiHeadPool(dim)
        self.match = nn.Sequential(camp_linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def prepare_images(self, images: Embedding) -> FusionParts:
        """Apply every layer that needs no text."""
        own, given = self.fuse_images.weight, self.fuse_texts.weight
        return _fusing(self.messages.image(images.vectors), own, given)

    def prepare_texts(self, texts: Embedding) -> FusionParts:
        """Apply every layer that needs no image."""
        own, given = self.fuse_texts.weight, self.fuse_images.weight
        return _fusing(self.messages.text(texts.vectors), own, given)

    def meet(
        self, images: FusionParts, texts: FusionParts, *, grid: bool
    ) -> Float[Tensor, "*pair"]:
        """Exchange messages, fuse, pool, match."""
        to_words, to_regions = self.messages.exchange(images.speaking, texts.speaking, grid=grid)
        v, w = images.speaking.vectors, texts.speaking.vectors
        products = affinity(v, w, grid=grid)
        image_gram, text_gram = broadcast_sides(images.gram, texts.gram, grid=grid)
        image_own, text_own = broadcast_sides(images.own, texts.own, grid=grid)
        image_given, text_given = broadcast_sides(images.given, texts.given, grid=grid)
        v, w = broadcast_sides(v, w, grid=grid)
        to_words = unit_messages(to_words, text_gram)
        to_regions = unit_messages(to_regions, image_gram)
        fused_v = (scalar_gate(to_words, products) * (image_own + to_words @ text_given)).relu() + v
        back = scalar_gate(to_regions, products.transpose(-1, -2))
        fused_w = (back * (text_own + to_regions @ image_given)).relu() + w
        image = released_normalise(self.pool_images(fused_v))
        text = released_normalise(self.pool_texts(fused_w))
        return self.match(torch.cat([image, text], dim=-1))[..., 0]

    def alignment(self, images: FusionParts, texts: FusionParts) -> Alignment:
        """Show what the messages are made of, and the gates."""
        to_words, to_regions = self.messages.exchange(images.speaking, texts.speaking, grid=False)
        products = affinity(images.speaking.vectors, texts.speaking.vectors, grid=False)
        region_gates = scalar_gate(unit_messages(to_words, texts.gram), products)
        word_gates = scalar_gate(unit_messages(to_regions, images.gram), products.transpose(1, 2))
        return Alignment(to_words[0], to_regions[0], region_gates[0, :, 0], word_gates[0, :, 0])


def _fusing(
    speaking: MessageParts, own: Float[Tensor, "dim twice"], given: Float[Tensor, "dim twice"]
) -> FusionParts:
    parts = speaking.vectors
    dim = parts.shape[2]
    gram = parts @ parts.transpose(1, 2)
    return FusionParts(speaking, parts @ own[:, :dim].T, parts @ given[:, dim:].T, gram)


def unit_messages(
    weights: Float[Tensor, "*pair query context"], gram: Float[Tensor, "*#pair context context"]
) -> Float[Tensor, "*pair query context"]:
    """Rescale the weights so that each message has length one; no message is formed."""
    squares = ((weights @ gram) * weights).sum(dim=-1, keepdim=True)
    return weights / (squares.clamp(min=1e-24).sqrt() + 1e-8)


def scalar_gate(
    weights: Float[Tensor, "*pair query context"], products: Float[Tensor, "*pair query context"]
) -> Float[Tensor, "*pair query 1"]:
    """How far each part lets its message in: 0 to 1."""
    return (weights * products).sum(dim=-1, keepdim=True).sigmoid()


class MultiHeadPool(nn.Module):
    """Four weighted sums of the parts, each by its own learned attention, averaged."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.ask = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 4))

    def forward(self, parts: Float[Tensor, "*pair part dim"]) -> Float[Tensor, "*pair dim"]:
        """Weigh and add up; the mean of sums is the sum by mean weights."""
        return (self.weights(parts).unsqueeze(-2) @ parts).squeeze(-2)

    def weights(self, parts: Float[Tensor, "*pair part dim"]) -> Float[Tensor, "*pair part"]:
        """How much each part counts, over all heads."""
        return self.ask(parts).softmax(dim=-2).mean(dim=-1)
