"""Scores between two sets of vectors: best pair, mean match, Chamfer, smooth Chamfer."""

import math
from abc import abstractmethod
from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.similarity.similarity import Pairs, Similarity
from deixis.types import Embedding

TILE = 2**20  # cosines of half a tile, which is as high as two of its widths: products are fast
STRIP = 2**17  # cosines folded at once: they and what is made of them stay in a fast cache
SAFE_EXPONENT = 40.0  # above it, sums of exponentials of cosines may vanish in single precision

# Cosines of all parts that meet: image × region × word × text on a grid, item × region × word in
# rows. On a grid the texts come last, so that a fold adds and compares long rows of neighbours in
# memory, not a handful of numbers at a time.
Table = Float[Tensor, "first region word *text"]
Exists = Bool[Tensor, "first region word *text"]
Scores = Float[Tensor, "first *text"]


class SetSimilarity(Similarity):
    """What set similarities share: one product of all parts, then a fold of each pair's table."""

    @abstractmethod
    def fold(self, cosines: Table, exists: Exists | None) -> Scores:
        """Fold the table of each pair into its score; ``exists`` is None when every part does."""

    def score(self, pairs: Pairs) -> Float[Tensor, "*pair"]:
        """Multiply all parts that meet, then fold."""
        return self.fold(_table(pairs), _exists(pairs))

    def forward(self, images: Embedding, texts: Embedding) -> Float[Tensor, "image text"]:
        """Score every image with every text; without gradients in tiles that stay in the cache."""
        if torch.is_grad_enabled():
            return super().forward(images, texts)
        scores = images.vectors.new_empty(len(images), len(texts))
        side = max(1, math.isqrt(TILE // (images.mask.shape[1] * texts.mask.shape[1])))
        room = images.vectors.new_empty(0)  # of a tile: taken once, used for all
        for left in range(0, len(texts), side):
            there = slice(left, left + side)
            some = _parts_first(texts.rows(there))
            for top in range(0, len(images), 2 * side):
                here = slice(top, top + 2 * side)
                pairs = Pairs(images.rows(here), some, grid=True)
                self._fill(scores[here, there], _table(pairs, room), _exists(pairs))
        return scores

    def _fill(
        self, scores: Float[Tensor, "image text"], table: Table, exists: Exists | None
    ) -> None:
        """Fold a tile a few images at a time."""
        step = max(1, STRIP // max(1, table[:1].numel()))
        for top in range(0, len(scores), step):
            few = slice(top, top + step)
            scores[few] = self.fold(table[few], None if exists is None else exists[few])


class BestPair(SetSimilarity):
    """The cosine of the two elements that agree best: multiple instance learning (MIL).

    *Formula*: ``max_kl c_kl``. *Relations*: with one part per side it is the plain cosine.
    *Paper*: PVSE 2019. Only the best pair gets a gradient.
    """

    def fold(self, cosines: Table, exists: Exists | None) -> Scores:
        """Take the largest cosine."""
        return _without(cosines, exists, -2.0).amax(dim=(1, 2))


class MatchProbability(SetSimilarity):
    """The mean probability that two elements match (MP).

    *Formula*: ``mean_kl sigmoid(scale · c_kl + shift)``, scale and shift learned.
    *Paper*: PCME 2021, in the form DivE compares with. The published comparison means to learn the
    two numbers but never registers them, so they stay 1 and 0; here they start there and learn.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.shift = nn.Parameter(torch.zeros(()))

    def fold(self, cosines: Table, exists: Exists | None) -> Scores:
        """Average the probabilities of all pairs of elements."""
        likely = (self.scale * cosines + self.shift).sigmoid()
        if exists is None:
            return likely.mean(dim=(1, 2))
        count = exists.sum(dim=(1, 2)).clamp(min=1)
        return _without(likely, exists, 0.0).sum(dim=(1, 2)) / count


class Chamfer(SetSimilarity):
    """How well each element is met by its nearest in the other set, averaged both ways.

    *Formula*: ``½ (mean_k max_l c_kl + mean_l max_k c_kl)``.
    *Relations*: the limit of SmoothChamfer as its sharpness grows.
    """

    def fold(self, cosines: Table, exists: Exists | None) -> Scores:
        """Average the nearest of each element, both ways."""
        cosines = _without(cosines, exists, -2.0)
        return (_mean(cosines.amax(2), exists, 2) + _mean(cosines.amax(1), exists, 1)) / 2


class SmoothChamfer(SetSimilarity):
    """Chamfer with a soft maximum, so that every pair of elements gets a gradient.

    *Formula*: ``(mean_k log Σ_l exp(α c_kl) + mean_l log Σ_k exp(α c_kl)) / 2α``, α the sharpness.
    Two sets of K copies of one vector score 1 + (log K) / α; the constant never changes an order.
    *Relations*: tends to Chamfer as α grows; sets of different sizes may meet.
    *Paper*: DivE 2023; α = 16 there.
    """

    def __init__(self, sharpness: float = 16.0) -> None:
        super().__init__()
        self.sharpness = sharpness

    def fold(self, cosines: Table, exists: Exists | None) -> Scores:
        """Average the soft nearest of each element, both ways."""
        if exists is None and self.sharpness <= SAFE_EXPONENT:
            likeness = (self.sharpness * cosines).exp_()
            forth, back = likeness.sum(2).log(), likeness.sum(1).log()
        else:
            scaled = _without(self.sharpness * cosines, exists, -4.0 * self.sharpness)
            forth, back = scaled.logsumexp(2), scaled.logsumexp(1)
        return (_mean(forth, exists, 2) + _mean(back, exists, 1)) / (2 * self.sharpness)


def _table(pairs: Pairs, room: Tensor | None = None) -> Table:
    """The cosines; written into a room if one is given, which grows to their number."""
    images, texts = pairs.images.vectors, pairs.texts.vectors
    if not pairs.grid:
        return images @ texts.transpose(1, 2)
    left, right = images.flatten(0, 1), texts.transpose(0, 1).flatten(0, 1).T
    if room is None:
        flat = left @ right
    else:
        room.resize_(len(left) * right.shape[1])
        flat = torch.mm(left, right, out=room.view(len(left), -1))
    return flat.view(*images.shape[:2], texts.shape[1], texts.shape[0])


def _parts_first(items: Embedding) -> Embedding:
    """The same items, laid out as a table wants texts: for all tiles that they are in."""
    vectors = items.vectors.transpose(0, 1).contiguous().transpose(0, 1)
    return replace(items, vectors=vectors)


def _exists(pairs: Pairs) -> Exists | None:
    images, texts = pairs.images.mask, pairs.texts.mask
    if bool(images.all()) and bool(texts.all()):
        return None
    if not pairs.grid:
        return images[:, :, None] & texts[:, None, :]
    return images[:, :, None, None] & texts.T


def _without(table: Table, exists: Exists | None, filler: float) -> Table:
    return table if exists is None else table.masked_fill(~exists, filler)


def _mean(values: Float[Tensor, "first part *text"], exists: Exists | None, folded: int) -> Scores:
    """The mean over the parts that exist, where the table's other axis was folded away."""
    if exists is None:
        return values.mean(dim=1)
    kept = exists.any(dim=folded)
    return values.masked_fill(~kept, 0.0).sum(dim=1) / kept.sum(dim=1).clamp(min=1)
