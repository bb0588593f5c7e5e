"""Augmentation by regions and words that are dropped, masked or replaced."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from deixis.data.batches.images import ImageBatches
from deixis.data.batches.mined import MinedBatches
from deixis.data.batches.pairs import PairBatches
from deixis.data.batches.streams import stream
from deixis.data.batches.twins import TwinBatches
from deixis.features.words.vocabulary import MASK, SPECIAL
from deixis.types import Batch, Regions, Tokens


@dataclass(frozen=True)
class AugmentedBatches:
    """Batches whose regions and words are dropped at random, again at every step.

    *Paper*: VSE∞ and DivE drop 20 % of regions and touch 20 % of words: of those, half are hidden
    behind the mask word, a tenth becomes a random word and the rest are left out. Texts of frozen
    states only lose words. The first and last word of a text are never touched.
    """

    batches: PairBatches | ImageBatches | TwinBatches | MinedBatches
    regions: float
    words: float
    vocabulary: int
    seed: int

    def __len__(self) -> int:
        """Batches per epoch."""
        return len(self.batches)

    def at(self, step: int) -> Batch:
        """The batch of a step, without the regions and words that this step drops."""
        batch = self.batches.at(step)
        images, texts = batch.images, batch.texts
        if self.regions:
            images = drop_regions(images, self.regions, stream(self.seed, step, "drop regions"))
        if self.words:
            random = stream(self.seed, step, "drop words")
            texts = drop_words(texts, self.words, self.vocabulary, random)
        return replace(batch, images=images, texts=texts)


def drop_regions(regions: Regions, share: float, random: torch.Generator) -> Regions:
    """Leave out a share of the regions, never all of an image's; the order is kept."""
    kept = regions.mask & (torch.rand(regions.mask.shape, generator=random) >= share)
    kept[:, 0] |= ~kept.any(dim=1) & regions.mask[:, 0]
    places, mask = _moved_up(kept)
    boxes = None if regions.boxes is None else _take(regions.boxes, places)
    return replace(regions, values=_take(regions.values, places), mask=mask, boxes=boxes)


def drop_words(tokens: Tokens, share: float, vocabulary: int, random: torch.Generator) -> Tokens:
    """Touch a share of the words: hide, swap or leave out."""
    chance = torch.rand(tokens.mask.shape, generator=random) / share
    chance[~_inner(tokens.mask)] = 1.0
    ids, values, least = tokens.ids, tokens.values, 0.0
    if values is None:
        least = 0.6  # below it a word stays in its place, hidden or swapped
        other = torch.randint(len(SPECIAL), vocabulary, ids.shape, generator=random)
        ids = torch.where((chance >= 0.5) & (chance < least), other, ids)
        ids = ids.masked_fill(chance < 0.5, MASK)
    left_out = (chance >= least) & (chance < 1.0)
    places, mask = _moved_up(tokens.mask & ~left_out)
    return replace(
        tokens,
        ids=ids.gather(1, places),
        mask=mask,
        values=None if values is None else _take(values, places),
        times=None if tokens.times is None else _take(tokens.times, places),
    )


def _inner(mask: Bool[Tensor, "item place"]) -> Bool[Tensor, "item place"]:
    """Every place but the first and the last that exist."""
    place = torch.arange(mask.shape[1])
    return mask & (place > 0) & (place < mask.sum(dim=1, keepdim=True) - 1)


def _moved_up(
    kept: Bool[Tensor, "item place"],
) -> tuple[Int[Tensor, "item left"], Bool[Tensor, "item left"]]:
    """Where the kept places come from when they close up, and which places exist then.

    Recurrent encoders read as many places as exist from the front, so no gap may stay; places
    that no item of the batch needs any more are cut off.
    """
    longest = int(kept.sum(dim=1).max())
    places = (~kept).to(torch.int8).argsort(dim=1, stable=True)[:, :longest]
    return places, kept.gather(1, places)


def _take(values: Tensor, places: Int[Tensor, "item place"]) -> Tensor:
    return values[torch.arange(len(values)).unsqueeze(1), places]
