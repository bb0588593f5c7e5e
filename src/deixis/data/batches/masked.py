"""Batches with masked regions and words, and what they were."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor

from deixis.data.batches.streams import stream
from deixis.features.words.vocabulary import MASK, SPECIAL
from deixis.types import Batch, MaskedInputs


@dataclass(frozen=True)
class MaskedBatches:
    """Zeroes a share of the regions and masks a share of the words, anew at every step.

    Special words are never hidden. *Paper*: semantic sharing 2021 hides 15 %.
    """

    batches: Any  # what has a length and gives the batch of a step
    share: float
    seed: int

    def __len__(self) -> int:
        """Batches per epoch."""
        return len(self.batches)

    def at(self, step: int) -> Batch:
        """The batch of a step, together with what is masked in it."""
        batch: Batch = self.batches.at(step)
        random = stream(self.seed, step, "mask")
        images, texts = batch.images, batch.texts
        regions = self._chosen(images.mask, random)
        words = self._chosen(texts.mask & (texts.ids >= len(SPECIAL)), random)
        states = texts.values
        if states is not None:
            states = states.masked_fill(words.unsqueeze(2), 0.0)
        return replace(
            batch,
            images=replace(images, values=images.values.masked_fill(regions.unsqueeze(2), 0.0)),
            texts=replace(texts, ids=texts.ids.masked_fill(words, MASK), values=states),
            masked=MaskedInputs(regions, images.values, words, texts.ids),
        )

    def _chosen(
        self, mask: Bool[Tensor, "item place"], random: torch.Generator
    ) -> Bool[Tensor, "item place"]:
        return mask & (torch.rand(mask.shape, generator=random) < self.share)
