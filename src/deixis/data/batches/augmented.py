"""Augmentation by regions and words that are dropped, masked or replaced."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from deixis.data.batches.images import ImageBatches
from deixis.data.batches.mined import MinedBatches
from deixis.data.batches.pairs import PairBatches
from deixis.data.batches.streams import stream
from deixis.data.batches.twins import TwinBatches
from deixis.errors import RecipeError
from deixis.features.words.masking import Masking
from deixis.types import Batch, Regions, Tokens, Trace


@dataclass(frozen=True)
class AugmentedBatches:
    """Batches whose regions and words are dropped at random, again at every step.

    *Paper*: VSE∞ and DivE drop 20 % of regions and touch 20 % of words: of those, half are hidden
    behind the mask word, a tenth becomes a random word and the rest are left out; where
    a tower in training reads pieces, those of a word share its fate. Texts of frozen states only
    lose words. The first and last word of a text are never touched.
    """

    batches: PairBatches | ImageBatches | TwinBatches | MinedBatches
    regions: float
    words: float
    masking: Masking
    seed: int

    def __post_init__(self) -> None:
        if self.words and self.masking.mask is None:
            raise RecipeError(
                "train.drop_words hides half of its words behind a mask, for which this text tower "
                "has no mark, as a BERT has [MASK]; set train.drop_words = 0.0"
            )

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
            texts = drop_words(texts, self.words, self.masking, random)
        return replace(batch, images=images, texts=texts)


def drop_regions(regions: Regions, share: float, random: torch.Generator) -> Regions:
    """Leave out a share of the regions, never all of an image's; the order is kept."""
    kept = regions.mask & (torch.rand(regions.mask.shape, generator=random) >= share)
    kept[:, 0] |= ~kept.any(dim=1) & regions.mask[:, 0]
    places, mask = _moved_up(kept)
    boxes = None if regions.boxes is None else _take(regions.boxes, places)
    return replace(regions, values=_take(regions.values, places), mask=mask, boxes=boxes)


def drop_words(tokens: Tokens, share: float, masking: Masking, random: torch.Generator) -> Tokens:
    """Touch a share of the words: hide, swap or leave out."""
    chance = torch.rand(tokens.mask.shape, generator=random) / share
    chance = _by_word(chance, tokens.ids, masking)
    chance[~_inner(tokens.mask)] = 1.0
    ids, values, least = tokens.ids, tokens.values, 0.0
    if values is None:
        assert masking.mask is not None, "AugmentedBatches refuses texts without one"
        least = 0.6  # below it a word stays in its place, hidden or swapped
        other = torch.randint(masking.first, masking.size, ids.shape, generator=random)
        ids = torch.where((chance >= 0.5) & (chance < least), other, ids)
        ids = ids.masked_fill(chance < 0.5, masking.mask)
    kept = tokens.mask & ~((chance >= least) & (chance < 1.0))
    places, mask = _moved_up(kept)
    return replace(
        tokens,
        ids=ids.gather(1, places),
        mask=mask,
        values=None if values is None else _take(values, places),
        times=None if tokens.times is None else _take(tokens.times, places),
        trace=None if tokens.trace is None else _following(tokens.trace, kept),
    )


def _following(trace: Trace, kept: Bool[Tensor, "text word"]) -> Trace:
    """The boxes with the places their words have once the others are gone; -1 without a word."""
    place = (kept.long().cumsum(dim=1) - 1).masked_fill(~kept, -1)
    word = place.gather(1, trace.word.clamp(min=0)).masked_fill(trace.word < 0, -1)
    return replace(trace, word=word)


def _by_word(
    chance: Float[Tensor, "item place"], ids: Int[Tensor, "item place"], masking: Masking
) -> Float[Tensor, "item place"]:
    """One chance per word, for all of its pieces: that of the first."""
    if masking.continues is None:
        return chance
    begins = ~torch.from_numpy(masking.continues)[ids]
    place = torch.arange(ids.shape[1]).expand_as(ids)
    return chance.gather(1, place.masked_fill(~begins, 0).cummax(dim=1).values)


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
