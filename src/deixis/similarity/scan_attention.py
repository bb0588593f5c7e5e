"""SCAN: stacked cross attention, where the parts of one side attend to those of the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import leaky_relu

from deixis.errors import RecipeError
from deixis.similarity.part_level import Alignment, PartLevel
from deixis.types import Embedding

HOTTEST = 40.0  # above it squares of exp(temperature) leave float32
PIECE = 2**18  # products worked on at once: small enough to stay in cache between the passes

Affinity = Float[Tensor, "item context query other"]


@dataclass(frozen=True)
class GramParts:
    """The parts of items of equal length, and their products with one another."""

    vectors: Float[Tensor, "item part dim"]
    gram: Float[Tensor, "item part part"]

    @classmethod
    def of(cls, vectors: Float[Tensor, "item part dim"]) -> "GramParts":
        """Keep items innermost in memory, so that work over parts is vectorised across items."""
        stored = vectors.transpose(0, 1).contiguous().transpose(0, 1)
        return cls(stored, vectors @ vectors.transpose(1, 2))

    @property
    def lengths(self) -> Float[Tensor, "item part"]:
        """The norm of every part."""
        return self.gram.diagonal(dim1=1, dim2=2).clamp(min=1e-30).sqrt()


class CrossAttention(PartLevel[GramParts]):
    """The cosine of every part with what it attends to on the other side, pooled.

    *Formula*: affinities s of queries a and contexts b, ``s̄ = leaky(s) / |leaky(s)|`` over the
    queries, weights ``softmax_b(temperature · s̄)``, ``r_a = cos(q_a, Σ_b w_ab x_b)``; then the mean
    of r, or ``log Σ exp(sharpness · r) / sharpness``. ``t2i``: words ask regions; ``i2t``: the
    reverse.
    *Relations*: no attended vector is formed. A cosine ignores the scale of the weights, so the
    softmax is never divided by its sum; ``q·c = Σ e s`` and ``|c|² = e' G e`` with G the products
    of the contexts with one another.
    *Paper*: SCAN 2018, equations 1–9; like the released code it clips by a leaky slope of 0.1.
    """

    def __init__(
        self,
        direction: Literal["t2i", "i2t"],
        temperature: float,
        pool: Literal["lse", "mean"],
        sharpness: float,
    ) -> None:
        super().__init__()
        self.direction = direction
        self.temperature = checked_temperature(temperature)
        self.pool = pool
        self.sharpness = sharpness

    def prepare_images(self, images: Embedding) -> GramParts:
        """Compute the Gram matrices of the regions."""
        return GramParts.of(images.vectors)

    def prepare_texts(self, texts: Embedding) -> GramParts:
        """Compute the Gram matrices of the words."""
        return GramParts.of(texts.vectors)

    def meet(self, images: GramParts, texts: GramParts, *, grid: bool) -> Float[Tensor, "*pair"]:
        """Attend in one direction and pool over the side that asks."""
        words_ask = self.direction == "t2i"
        contexts, queries = (images, texts) if words_ask else (texts, images)
        scores = []
        for here, affinity in item_slices(dot_products(contexts, queries, grid=grid)):
            weights = attention(affinity, self.temperature)
            lengths = query_lengths(queries, here, grid=grid)
            scores.append(
                self._pooled(attended_cosines(affinity, weights, contexts.gram[here], lengths))
            )
        scored = torch.cat(scores)
        if not grid:
            return scored[:, 0]
        return scored if words_ask else scored.T

    def alignment(self, images: GramParts, texts: GramParts) -> Alignment:
        """Show the attention of the side that asks."""
        words_ask = self.direction == "t2i"
        contexts, queries = (images, texts) if words_ask else (texts, images)
        weights = attention(dot_products(contexts, queries, grid=False), self.temperature)
        found = attention_shares(weights)
        return Alignment(to_regions=found) if words_ask else Alignment(to_words=found)

    def _pooled(self, found: Float[Tensor, "item query other"]) -> Float[Tensor, "item other"]:
        if self.pool == "mean":
            return found.mean(dim=1)
        return torch.logsumexp(self.sharpness * found, dim=1) / self.sharpness


def checked_temperature(temperature: float) -> float:
    """Refuse a temperature whose weights would overflow."""
    if not 0 < temperature <= HOTTEST:
        raise RecipeError(f"temperature is {temperature}; it must be above 0, at most {HOTTEST}")
    return temperature


def dot_products(contexts: GramParts, queries: GramParts, *, grid: bool) -> Affinity:
    """Dot products of all parts that meet; on a grid one matrix product.

    Row with row, every pair is an item of its own and ``other`` has length one.
    """
    if not grid:
        return (contexts.vectors @ queries.vectors.transpose(1, 2)).unsqueeze(3)
    rows, columns = contexts.vectors.transpose(0, 1), queries.vectors.transpose(0, 1)
    flat = rows.flatten(0, 1) @ columns.flatten(0, 1).T
    return flat.view(*rows.shape[:2], *columns.shape[:2]).transpose(0, 1)


def transposed(affinity: Affinity) -> Float[Tensor, "other query context item"]:
    """The products of a grid with the two sides in each other's place.

    Turned as the one matrix they are stored as: a third of the time of turning four axes.
    """
    items, contexts, queries, others = affinity.shape
    flat = affinity.transpose(0, 1).reshape(contexts * items, queries * others)
    return flat.T.contiguous().view(queries, others, contexts, items).transpose(0, 1)


def item_slices(affinity: Affinity) -> Iterator[tuple[slice, Affinity]]:
    """Cut along items, so that the passes over a piece find it in cache."""
    step = max(1, PIECE // affinity[0].numel())
    for start in range(0, len(affinity), step):
        here = slice(start, start + step)
        yield here, affinity[here]


def query_lengths(
    queries: GramParts, here: slice, *, grid: bool
) -> Float[Tensor, "#item query other"]:
    """Norms of the parts that ask, shaped to meet a piece."""
    return queries.lengths.T.unsqueeze(0) if grid else queries.lengths[here].unsqueeze(2)


def attention(affinity: Affinity, temperature: float) -> Affinity:
    """Attention weights over the contexts, up to a scale per query: ``exp(temperature · s̄)``."""
    clipped = leaky_relu(affinity, 0.1)
    # Clamped before the root: a context nobody fits at all has slope infinity there.
    norms = clipped.square().sum(dim=2, keepdim=True).clamp(min=1e-30).sqrt()
    return (clipped * (temperature / (norms + 1e-8))).exp_()


def attended_cosines(
    affinity: Affinity,
    weights: Affinity,
    gram: Float[Tensor, "item context context"],
    lengths: Float[Tensor, "#item query other"],
) -> Float[Tensor, "item query other"]:
    """Cosine of every query with the contexts it attends to, which are never summed up."""
    dots = (weights * affinity).sum(dim=1)
    transposed = torch.bmm(gram, weights.flatten(2)).view(weights.shape)
    squares = (weights * transposed).sum(dim=1)
    return dots / (lengths * squares.clamp(min=1e-20).sqrt()).clamp(min=1e-8)


def attention_shares(weights: Float[Tensor, "1 context query 1"]) -> Float[Tensor, "query context"]:
    """The weights of one pair as shares: what each query gives to each context."""
    table = weights[0, :, :, 0].T
    return table / table.sum(dim=1, keepdim=True)
