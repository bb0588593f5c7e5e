"""CAMP: both sides send each other messages before they are compared."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from deixis.similarity.base import affinity
from deixis.similarity.lean import lean_scores
from deixis.similarity.local import Alignment, Local, bundles
from deixis.types import Embedding

# Who is listened to is outer, who listens is inner: on a grid all items of one side each; row with
# row outer counts the pairs and inner is one. A message is then one product, and nothing is copied.
Shares = Float[Tensor, "outer inner part other"]
Met = Float[Tensor, "outer inner part dim"]
Own = Float[Tensor, "#outer #inner part dim"]
Listening = Bool[Tensor, "#outer #inner part"]
Pooled = Float[Tensor, "outer inner dim"]


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

    def __init__(self, dim: int, *, attend: bool) -> None:
        super().__init__()
        keep_freed_memory()
        # Narrow models: fewer, larger blocks.
        self.images_a_block = max(4, min(64, 4096 // dim))
        self.pairs_a_block = max(64, min(1024, 65536 // dim))
        self.image_key = weight(dim, dim, bias=False) if attend else Alike()
        self.text_key = weight(dim, dim, bias=False) if attend else Alike()

    def forward(self, images: Embedding, texts: Embedding) -> Float[Tensor, "image text"]:
        """Score every image with every text; where gradients flow, without keeping the way."""
        if torch.is_grad_enabled():
            return lean_scores(self, images, texts)
        return super().forward(images, texts)

    def prepare_images(self, images: Embedding) -> Keyed:
        """Compute the keys of the regions; their scale is taken once, not once a pair."""
        keys = self.image_key(images.vectors) / math.sqrt(images.vectors.shape[2])
        return Keyed(images.vectors, images.mask, keys)

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
    ) -> tuple[Shares, Float[Tensor, "heard hearing word region"]]:
        """How much each region listens to each word, and each word to each region.

        What is listened to comes first: text, image, region, word and image, text, word, region.
        Row with row the first axis counts the pairs, the second has length one.
        """
        logits = affinity(images.keys, texts.keys, grid=grid)
        logits = logits if grid else logits.unsqueeze(1)
        to_words = logits.transpose(0, 1) if grid else logits
        return (
            masked_softmax(to_words, texts.mask[:, None, None]),
            masked_softmax(logits.transpose(2, 3), images.mask[:, None, None]),
        )

    def look(self, images: Keyed, texts: Keyed) -> Alignment:
        """Show how messages are made."""
        to_words, to_regions = self.attentions(images, texts, grid=False)
        return Alignment(to_words[0, 0], to_regions[0, 0])


class MessageCosine(Messages):
    """CAMP without fusion: the cosine of the pooled messages.

    *Relations*: pooling and messages are both weighted sums, so their weights are multiplied and
    no message is formed.
    *Paper*: CAMP 2019, supplement section 1.3.
    """

    def __init__(self, dim: int) -> None:
        super().__init__(dim, attend=True)
        self.pool_images = AttendedSum(dim)
        self.pool_texts = AttendedSum(dim)

    def meet(self, images: Keyed, texts: Keyed, *, grid: bool) -> Float[Tensor, "*pair"]:
        """Pool what the regions heard and what the words heard, and compare."""
        to_words, to_regions = self.attentions(images, texts, grid=grid)
        v_mask, w_mask = listening(images.mask, grid=grid), listening(texts.mask, grid=grid)
        image = self.pool_images.of_messages(to_words, texts.vectors, v_mask)
        text = self.pool_texts.of_messages(to_regions, images.vectors, w_mask)
        image = image.transpose(0, 1) if grid else image
        scores = cosine_similarity(image, text, dim=-1)
        return scores if grid else scores[:, 0]


class GatedFusion(Messages):
    """CAMP: messages enter each part through a gate; the fused sides are pooled and matched.

    *Formula*: gate ``g = σ(v ⊙ t̃)``, ``v̂ = ReLU(F(g ⊙ (v + t̃))) + v`` (or ``v`` and ``t̃``
    concatenated), both sides; pooled by a learned attention; the score is the logit of an MLP on
    ``v* + t*``, or its sigmoid where a hinge needs scores within bounds.
    *Relations*: a vector gate does not pass through F, so every pair costs
    ``2 (regions + words) dim²``; pairs are batched and keys computed once an item.
    *Paper*: CAMP 2019, equations 1–9, and the supplement's section 1.2 with ``attend`` off.
    """

    complexity = "O(N²MD²)"

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
        to_words, to_regions = self.attentions(images, texts, grid=grid)
        v, w = listening(images.vectors, grid=grid), listening(texts.vectors, grid=grid)
        v_mask, w_mask = listening(images.mask, grid=grid), listening(texts.mask, grid=grid)
        gained = self.fuse_images(v, heard(to_words, texts.vectors))
        image = self.pool_images(gained, v, v_mask)
        gained = self.fuse_texts(w, heard(to_regions, images.vectors))
        text = self.pool_texts(gained, w, w_mask)
        image = image.transpose(0, 1) if grid else image
        logits = self.match(image + text)[..., 0]
        logits = logits if grid else logits[:, 0]
        return logits.sigmoid() if self.squash else logits

    def look(self, images: Keyed, texts: Keyed) -> Alignment:
        """Show how messages are made, and the mean over dimensions of each gate."""
        to_words, to_regions = self.attentions(images, texts, grid=False)
        v, w = listening(images.vectors, grid=False), listening(texts.vectors, grid=False)
        region_gates = gate(v, heard(to_words, texts.vectors)).mean(dim=3)
        word_gates = gate(w, heard(to_regions, images.vectors)).mean(dim=3)
        return Alignment(to_words[0, 0], to_regions[0, 0], region_gates[0, 0], word_gates[0, 0])


class Fuse(nn.Module):
    """Lets a message into a part, dimension by dimension, as far as the two agree."""

    def __init__(self, dim: int, fusion: Literal["sum", "concat"]) -> None:
        super().__init__()
        self.fusion = fusion
        self.layer = weight(dim if fusion == "sum" else 2 * dim, dim)

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


class AttendedSum(nn.Module):
    """The sum of parts, weighted by one learned question."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.question = nn.Linear(dim, 1, bias=False)

    def forward(self, gained: Met, own: Own, mask: Listening) -> Pooled:
        """Weigh and add up parts with what they gained; the two are added only when pooled."""
        asked = (self.question(gained) + self.question(own))[..., 0] / math.sqrt(own.shape[-1])
        weights = masked_softmax(asked, mask)
        pooled = (weights.unsqueeze(2) @ gained)[:, :, 0]
        if len(own) == len(weights):
            return pooled + (weights.unsqueeze(2) @ own)[:, :, 0]
        return pooled + (weights.transpose(0, 1) @ own[0]).transpose(0, 1)

    def of_messages(
        self, shares: Shares, vectors: Float[Tensor, "outer other dim"], mask: Listening
    ) -> Pooled:
        """Weigh and add up messages, given what they are made of."""
        asked = heard(shares, self.question(vectors))[..., 0] / math.sqrt(vectors.shape[-1])
        weights = masked_softmax(asked, mask).unsqueeze(2)
        return (weights @ shares)[:, :, 0] @ vectors


def heard(shares: Shares, vectors: Float[Tensor, "outer other dim"]) -> Met:
    """The messages: one matrix product for each item that is listened to."""
    return (shares.flatten(1, 2) @ vectors).unflatten(1, shares.shape[1:3])


def listening(of_items: Tensor, *, grid: bool) -> Tensor:
    """What belongs to the items that listen, shaped to meet every item or one that speaks."""
    return of_items.unsqueeze(0 if grid else 1)


def masked_softmax(
    logits: Float[Tensor, "*pair part"], mask: Bool[Tensor, "*#pair part"]
) -> Float[Tensor, "*pair part"]:
    """Shares over the parts that exist; every item has one at least."""
    if mask.all():  # the usual bundle: one pass less
        return logits.softmax(dim=-1)
    return logits.masked_fill(~mask, float("-inf")).softmax(dim=-1)


def keep_freed_memory() -> None:
    """Free one large block, after which glibc no longer gives the smaller ones back at once.

    Otherwise every block of pairs takes its memory anew, page by page: a sixth of the time.
    """
    torch.empty(31 * 2**20, dtype=torch.uint8)


def weight(inner: int, outer: int, *, bias: bool = True) -> nn.Linear:
    """A linear layer that starts uniform within ``sqrt(3 / outer)``, as the released code does."""
    layer = nn.Linear(inner, outer, bias=bias)
    limit = math.sqrt(3.0 / outer)
    nn.init.uniform_(layer.weight, -limit, limit)
    return layer
