"""BFAN: attention both ways, kept only where it exceeds a threshold."""

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import threshold

from deixis.similarity.part_level import Alignment, PartLevel, select_rows
from deixis.similarity.scan_attention import (
    Affinity,
    GramParts,
    attended_cosines,
    attention,
    attention_shares,
    checked_temperature,
    dot_products,
    item_slices,
    query_lengths,
    transposed,
)
from deixis.types import Embedding, map_tensors

DOUBT = 5e-5  # relative distance to the threshold below which float32 cannot decide the side
SLACK = 16.0  # roundings by which a weight may miss the threshold and still be kept


class FocalAttention(PartLevel[GramParts]):
    """Both directions of attention, each over only the contexts above a threshold.

    *Formula*: weights e as in SCAN; kept where ``e_b ≥ Σ e g / Σ g`` over the contexts, with g = 1
    (``equal``) or ``√e`` (``prob``); mean cosine of the words with what they keep, plus that of the
    regions.
    *Relations*: the threshold is a weighted mean, so the largest weight always stays and uniform
    attention keeps everything; the published code divides zero by zero there.
    *Paper*: BFAN 2019. The choice is a step: scores that no gradient flows through and whose side
    float32 cannot decide are recomputed in float64.
    """

    def __init__(self, focus: Literal["equal", "prob"], temperature: float) -> None:
        super().__init__()
        self.focus = focus
        self.temperature = checked_temperature(temperature)

    def prepare_images(self, images: Embedding) -> GramParts:
        """Compute the Gram matrices of the regions."""
        return GramParts.of(images.vectors)

    def prepare_texts(self, texts: Embedding) -> GramParts:
        """Compute the Gram matrices of the words."""
        return GramParts.of(texts.vectors)

    def meet(self, images: GramParts, texts: GramParts, *, grid: bool) -> Float[Tensor, "*pair"]:
        """Attend both ways over one product, then settle the doubtful pairs."""
        affinity = dot_products(images, texts, grid=grid)
        back = transposed(affinity) if grid else affinity.transpose(1, 2)
        forth, forth_doubt = self._one_way(affinity, images, texts, grid=grid)
        other, other_doubt = self._one_way(back, texts, images, grid=grid)
        if grid:
            other, other_doubt = other.T, other_doubt.T
        else:
            forth, forth_doubt, other, other_doubt = (
                table[:, 0] for table in (forth, forth_doubt, other, other_doubt)
            )
        scores = forth + other
        if scores.dtype == torch.float64 or scores.requires_grad:
            return scores
        return self._settled(scores, forth_doubt | other_doubt, images, texts)

    def alignment(self, images: GramParts, texts: GramParts) -> Alignment:
        """Show what both sides keep of their attention."""
        affinity = dot_products(images, texts, grid=False)
        to_regions, to_words = (
            attention_shares(self._focused(attention(way, self.temperature))[0])
            for way in (affinity, affinity.transpose(1, 2))
        )
        return Alignment(to_words, to_regions)

    def _one_way(
        self, affinity: Affinity, contexts: GramParts, queries: GramParts, *, grid: bool
    ) -> tuple[Float[Tensor, "item other"], Bool[Tensor, "item other"]]:
        scores, doubts = [], []
        for here, piece in item_slices(affinity):
            weights, doubt = self._focused(attention(piece, self.temperature))
            lengths = query_lengths(queries, here, grid=grid)
            found = attended_cosines(piece, weights, contexts.gram[here], lengths)
            scores.append(found.mean(dim=1))
            doubts.append(doubt)
        return torch.cat(scores), torch.cat(doubts)

    def _focused(self, weights: Affinity) -> tuple[Affinity, Bool[Tensor, "item other"]]:
        """Weights in units of the threshold, zero below it; and which are too near to decide."""
        given = weights.detach()
        if self.focus == "equal":
            bar = given.mean(dim=1, keepdim=True)
        else:
            roots = given.sqrt()
            bar = (given * roots).sum(1, keepdim=True) / roots.sum(1, keepdim=True)
        relative = weights / bar  # a cosine does not care
        focused = threshold(relative, 1.0 - SLACK * torch.finfo(weights.dtype).eps, 0.0)
        if weights.shape[1] == 1:  # a lone context is always kept: nothing to doubt
            return focused, torch.zeros_like(focused[:, 0, 0], dtype=torch.bool)
        nearest = (relative.detach() - 1.0).abs_().amin(dim=1)
        return focused, (nearest < DOUBT).any(dim=1)

    def _settled(
        self,
        scores: Float[Tensor, "*pair"],
        doubt: Bool[Tensor, "*pair"],
        images: GramParts,
        texts: GramParts,
    ) -> Float[Tensor, "*pair"]:
        """Replace doubtful scores by those of float64."""
        if not doubt.any():
            return scores
        for pairs in torch.nonzero(doubt).split(self.pairs_per_block):
            image, text = pairs[:, 0], pairs[:, -1]
            exact = self.meet(_doubled(images, image), _doubled(texts, text), grid=False)
            scores[tuple(pairs.T)] = exact.to(scores.dtype)
        return scores


def _doubled(parts: GramParts, index: Int[Tensor, " pair"]) -> GramParts:
    """Some items in float64; their Gram matrices decide nothing, so those of float32 will do."""
    return map_tensors(select_rows(parts, index), Tensor.double)
