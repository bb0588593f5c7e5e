"""CAMP: both sides send each other messages before they are compared."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from deixis.similarity.base import affinity, facing
from deixis.similarity.local import Alignment, Local, bundles
from deixis.types import Embedding


@dataclass(frozen=True)
class Keyed:
    """The parts of items of about equal length, and what the other side looks for in them."""

    vectors: Float[Tensor, "item part dim"]
    mask: Bool[Tensor, "item part"]
    keys: Float[Tensor, "item part key"]


class Alike(nn.Module):
    """Keys that are all the same: attention is uniform, so every message is the mean."""

    def forward(self, vectors: Float[Tensor, "item part dim"]) -> Float[Tensor, "item part 1"]:
        """Return zeros."""
        return torch.zeros_like(vectors[..., :1])


class Messages(Local[Keyed]):
    """What CAMP's models share: each part receives a message from the whole other side.

    *Formula*: ``A = (V K_v)(T K_t)' / √dim``; a region's message is ``softmax_words(A) T``, a
    word's ``softmax_regions(A') V``. With ``attend`` off every message is the mean (the ablation
    without cross-attention).
    """

    texts_a_block = 16
    pairs_a_block = 64

    def __init__(self, dim: int, *, attend: bool) -> None:
        super().__init__()
        self.images_a_block = max(4, min(64, 4096 // dim))  # narrow models: fewer, larger blocks
        self.image_key = weight(dim, dim, bias=False) if attend else Alike()
        self.text_key = weight(dim, dim, bias=False) if attend else Alike()

    def prepare_images(self, images: Embedding) -> Keyed:
        """Compute the keys of the regions."""
        return Keyed(images.vectors, images.mask, self.image_key(images.vectors))

    def prepare_texts(self, texts: Embedding) -> Keyed:
        """Compute the keys of the words."""
        return Keyed(texts.vectors, texts.mask, self.text_key(texts.vectors))

    def cut(
        self, items: Embedding, size: int | None = None
    ) -> Iterator[tuple[Int[Tensor, " some"], Embedding]]:
        """Put items of about equal length together: a mask costs CAMP less than small blocks."""
        return bundles(items, size)

    def attentions(
        self, images: Keyed, texts: Keyed, *, grid: bool
    ) -> tuple[Float[Tensor, "*pair region word"], Float[Tensor, "*pair word region"]]:
        """How much each region listens to each word, and each word to each region."""
        scale = math.sqrt(images.vectors.shape[2])
        logits = affinity(images.keys, texts.keys, grid=grid) / scale
        v_mask, w_mask = facing(images.mask, texts.mask, grid=grid)
        to_words = masked_softmax(logits, w_mask.unsqueeze(-2))
        return to_words, masked_softmax(logits.transpose(-1, -2), v_mask.unsqueeze(-2))

    def look(self, images: Keyed, texts: Keyed) -> Alignment:
        """Show how messages are made."""
        to_words, to_regions = self.attentions(images, texts, grid=False)
        return Alignment(to_words[0], to_regions[0])


class MessageCosine(Messages):
    """CAMP without fusion: the cosine of the pooled messages.

    *Paper*: CAMP 2019, supplement section 1.3.
    """

    def __init__(self, dim: int) -> None:
        super().__init__(dim, attend=True)
        self.pool_images = AttendedSum(dim)
        self.pool_texts = AttendedSum(dim)

    def meet(self, images: Keyed, texts: Keyed, *, grid: bool) -> Float[Tensor, "*pair"]:
        """Pool what the regions heard and what the words heard, and compare."""
        v, w = facing(images.vectors, texts.vectors, grid=grid)
        to_words, to_regions = self.attentions(images, texts, grid=grid)
        v_mask, w_mask = facing(images.mask, texts.mask, grid=grid)
        heard = self.pool_images(to_words @ w, v_mask), self.pool_texts(to_regions @ v, w_mask)
        return cosine_similarity(*heard, dim=-1)


class GatedFusion(Messages):
    """CAMP: messages enter each part through a gate; the fused sides are pooled and matched.

    *Formula*: gate ``g = σ(v ⊙ t̃)``, ``v̂ = ReLU(F(g ⊙ (v + t̃))) + v`` (or ``v`` and ``t̃``
    concatenated), both sides; pooled by a learned attention; the score is the logit of an MLP on
    ``v* + t*``, or its sigmoid where a hinge needs scores within bounds.
    *Relations*: a vector gate does not pass through F, so every pair costs
    ``2 (regions + words) dim²``; pairs are batched and keys computed once an item.
    *Paper*: CAMP 2019, equations 1–9, and the supplement's section 1.2 with ``attend`` off.
    """

    def __init__(
        self, dim: int, fusion: Literal["sum", "concat"], *, attend: bool, squash: bool
    ) -> None:
        super().__init__(dim, attend=attend)
        self.fuse_images = Fuse(dim, fusion)
        self.fuse_texts = Fuse(dim, fusion)
        self.pool_images = AttendedSum(dim)
        self.pool_texts = AttendedSum(dim)
        self.match = nn.Sequential(weight(dim, dim), nn.ReLU(), nn.Linear(dim, 1))
        self.squash = squash

    def meet(self, images: Keyed, texts: Keyed, *, grid: bool) -> Float[Tensor, "*pair"]:
        """Exchange messages, fuse, pool, match."""
        v, w = facing(images.vectors, texts.vectors, grid=grid)
        to_words, to_regions = self.attentions(images, texts, grid=grid)
        v_mask, w_mask = facing(images.mask, texts.mask, grid=grid)
        image = self.pool_images(self.fuse_images(v, to_words @ w), v_mask)
        text = self.pool_texts(self.fuse_texts(w, to_regions @ v), w_mask)
        logits = self.match(image + text)[..., 0]
        return logits.sigmoid() if self.squash else logits

    def look(self, images: Keyed, texts: Keyed) -> Alignment:
        """Show how messages are made, and the mean over dimensions of each gate."""
        v, w = images.vectors, texts.vectors
        to_words, to_regions = self.attentions(images, texts, grid=False)
        region_gates = self.fuse_images.gate(v, to_words @ w).mean(dim=2)
        word_gates = self.fuse_texts.gate(w, to_regions @ v).mean(dim=2)
        return Alignment(to_words[0], to_regions[0], region_gates[0], word_gates[0])


class Fuse(nn.Module):
    """Lets a message into a part, dimension by dimension, as far as the two agree."""

    def __init__(self, dim: int, fusion: Literal["sum", "concat"]) -> None:
        super().__init__()
        self.fusion = fusion
        self.layer = weight(dim if fusion == "sum" else 2 * dim, dim)

    def forward(
        self, own: Float[Tensor, "*#pair part dim"], message: Float[Tensor, "*pair part dim"]
    ) -> Float[Tensor, "*pair part dim"]:
        """Gate the part and its message, mix them, and add the part again."""
        gate = self.gate(own, message)
        if self.fusion == "sum":
            mixed = gate * (own + message)
        else:
            mixed = torch.cat([gate * own, gate * message], dim=-1)
        return self.layer(mixed).relu_() + own

    def gate(
        self, own: Float[Tensor, "*#pair part dim"], message: Float[Tensor, "*pair part dim"]
    ) -> Float[Tensor, "*pair part dim"]:
        """How far each dimension of a message is let in: 0 to 1."""
        return (own * message).sigmoid_()


class AttendedSum(nn.Module):
    """The sum of parts, weighted by one learned question."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.question = nn.Linear(dim, 1, bias=False)

    def forward(
        self, parts: Float[Tensor, "*pair part dim"], mask: Bool[Tensor, "*#pair part"]
    ) -> Float[Tensor, "*pair dim"]:
        """Weigh and add up the parts that exist."""
        asked = self.question(parts)[..., 0] / math.sqrt(parts.shape[-1])
        return (masked_softmax(asked, mask).unsqueeze(-2) @ parts).squeeze(-2)


def masked_softmax(
    logits: Float[Tensor, "*pair part"], mask: Bool[Tensor, "*#pair part"]
) -> Float[Tensor, "*pair part"]:
    """Shares over the parts that exist; every item has one at least."""
    return logits.masked_fill(~mask, float("-inf")).softmax(dim=-1)


def weight(inner: int, outer: int, *, bias: bool = True) -> nn.Linear:
    """A linear layer that starts uniform within ``sqrt(3 / outer)``, as the released code does."""
    layer = nn.Linear(inner, outer, bias=bias)
    limit = math.sqrt(3.0 / outer)
    nn.init.uniform_(layer.weight, -limit, limit)
    return layer
