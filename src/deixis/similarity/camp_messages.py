"""CAMP: both sides send each other messages before they are compared."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from deixis.similarity.part_level import Alignment, PartLevel, padded_buckets
from deixis.similarity.similarity import affinity
from deixis.similarity.sparse_backward import sparse_backward_scores
from deixis.types import Embedding

# The side that sends is outer, the side that receives is inner: on a grid all items of one side
# each; row with row outer counts the pairs and inner is one. A message is then one product, and
# nothing is copied.
Shares = Float[Tensor, "outer inner part other"]
Met = Float[Tensor, "outer inner part dim"]
Own = Float[Tensor, "#outer #inner part dim"]
Listening = Bool[Tensor, "#outer #inner part"]
Pooled = Float[Tensor, "outer inner dim"]


@dataclass(frozen=True)
class KeyedParts:
    """The parts of items of about equal length, and what the other side looks for in them."""

    vectors: Float[Tensor, "item part dim"]
    mask: Bool[Tensor, "item part"]
    keys: Float[Tensor, "item part key"]


class ConstantKeys(nn.Module):
    """Keys that are all the same: attention is uniform, so every message is the mean."""

    def forward(self, vectors: Float[Tensor, "item part dim"]) -> Float[Tensor, "item part 1"]:
        """Return zeros."""
        return torch.zeros_like(vectors[..., :1])


class MessageSimilarity(PartLevel[KeyedParts]):
    """What CAMP's models share: each part receives a message from the whole other side.

    *Formula*: ``A = (V K_v)(T K_t)' / √dim``; a region's message is ``softmax_words(A) T``, a
    word's ``softmax_regions(A') V``. With ``attend`` off every message is the mean (the ablation
    without cross-attention).
    """

    texts_per_block = 16

    def __init__(self, dim: int, *, attend: bool) -> None:
        super().__init__()
        keep_freed_memory()
        # Narrow models: fewer, larger blocks.
        self.images_per_block = max(4, min(64, 4096 // dim))
        self.pairs_per_block = max(64, min(1024, 65536 // dim))
        self.image_key = camp_linear(dim, dim, bias=False) if attend else ConstantKeys()
        self.text_key = camp_linear(dim, dim, bias=False) if attend else ConstantKeys()

    def forward(self, images: Embedding, texts: Embedding) -> Float[Tensor, "image text"]:
        """Score every image with every text; in training, without keeping the activations."""
        if torch.is_grad_enabled():
            return sparse_backward_scores(self, images, texts)
        return super().forward(images, texts)

    def prepare_images(self, images: Embedding) -> KeyedParts:
        """Compute the keys of the regions; their scale is applied once, not once per pair."""
        keys = self.image_key(images.vectors) / math.sqrt(images.vectors.shape[2])
        return KeyedParts(images.vectors, images.mask, keys)

    def prepare_texts(self, texts: Embedding) -> KeyedParts:
        """Compute the keys of the words."""
        return KeyedParts(texts.vectors, texts.mask, self.text_key(texts.vectors))

    def buckets(
        self, items: Embedding, size: int | None = None
    ) -> Iterator[tuple[Int[Tensor, " some"], Embedding]]:
        """Put items of about equal length together: a mask costs CAMP less than small blocks."""
        return padded_buckets(items, size)

    def attentions(
        self, images: KeyedParts, texts: KeyedParts, *, grid: bool
    ) -> tuple[Shares, Float[Tensor, "heard hearing word region"]]:
        """The attention of each region to the words, and of each word to the regions.

        The sending side comes first: text, image, region, word and image, text, word, region.
        Row with row the first axis counts the pairs, the second has length one.
        """
        logits = affinity(images.keys, texts.keys, grid=grid)
        logits = logits if grid else logits.unsqueeze(1)
        to_words = logits.transpose(0, 1) if grid else logits
        return (
            masked_softmax(to_words, texts.mask[:, None, None]),
            masked_softmax(logits.transpose(2, 3), images.mask[:, None, None]),
        )

    def alignment(self, images: KeyedParts, texts: KeyedParts) -> Alignment:
        """Show how messages are made."""
        to_words, to_regions = self.attentions(images, texts, grid=False)
        return Alignment(to_words[0, 0], to_regions[0, 0])


class MessageCosine(MessageSimilarity):
    """CAMP without fusion: the cosine of the pooled messages.

    *Relations*: pooling and messages are both weighted sums, so their weights are multiplied and
    no message is formed.
    *Paper*: CAMP 2019, supplement section 1.3.
    """

    def __init__(self, dim: int) -> None:
        super().__init__(dim, attend=True)
        self.pool_images = AttendedSum(dim)
        self.pool_texts = AttendedSum(dim)

    def meet(self, images: KeyedParts, texts: KeyedParts, *, grid: bool) -> Float[Tensor, "*pair"]:
        """Pool the messages to the regions and those to the words, and compare."""
        to_words, to_regions = self.attentions(images, texts, grid=grid)
        v_mask, w_mask = as_receivers(images.mask, grid=grid), as_receivers(texts.mask, grid=grid)
        image = self.pool_images.of_messages(to_words, texts.vectors, v_mask)
        text = self.pool_texts.of_messages(to_regions, images.vectors, w_mask)
        image = image.transpose(0, 1) if grid else image
        scores = cosine_similarity(image, text, dim=-1)
        return scores if grid else scores[:, 0]


class AttendedSum(nn.Module):
    """The sum of parts, weighted by attention to one learned query."""

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
        asked = messages_from(shares, self.question(vectors))[..., 0] / math.sqrt(vectors.shape[-1])
        weights = masked_softmax(asked, mask).unsqueeze(2)
        return (weights @ shares)[:, :, 0] @ vectors


def messages_from(shares: Shares, vectors: Float[Tensor, "outer other dim"]) -> Met:
    """The messages: one matrix product for each sending item."""
    return (shares.flatten(1, 2) @ vectors).unflatten(1, shares.shape[1:3])


def as_receivers(of_items: Tensor, *, grid: bool) -> Tensor:
    """What belongs to the receiving items, shaped to meet every sending item, or one."""
    return of_items.unsqueeze(0 if grid else 1)


def masked_softmax(
    logits: Float[Tensor, "*pair part"], mask: Bool[Tensor, "*#pair part"]
) -> Float[Tensor, "*pair part"]:
    """A softmax over the parts that exist; every item has at least one."""
    if mask.all():  # the usual bundle: one pass less
        return logits.softmax(dim=-1)
    return logits.masked_fill(~mask, float("-inf")).softmax(dim=-1)


def keep_freed_memory() -> None:
    """Free one large block, after which glibc no longer gives the smaller ones back at once.

    Otherwise every block of pairs takes its memory again, page by page: a sixth of the time.
    """
    torch.empty(31 * 2**20, dtype=torch.uint8)


def camp_linear(inner: int, outer: int, *, bias: bool = True) -> nn.Linear:
    """A linear layer that starts uniform within ``sqrt(3 / outer)``, as the released code does."""
    layer = nn.Linear(inner, outer, bias=bias)
    limit = math.sqrt(3.0 / outer)
    nn.init.uniform_(layer.weight, -limit, limit)
    return layer
