"""Batches with every narration twice: with its trace and without."""

from dataclasses import dataclass, replace
from typing import Any

import torch

from deixis.types import Batch, map_tensors


@dataclass(frozen=True)
class WithUntraced:
    """Each text a second time without its trace, so that images answer both kinds of query."""

    batches: Any  # what has a length and gives the batch of a step

    def __len__(self) -> int:
        """Batches per epoch."""
        return len(self.batches)

    def at(self, step: int) -> Batch:
        """The batch of a step; the texts without traces follow those with."""
        batch: Batch = self.batches.at(step)
        texts = map_tensors(batch.texts, lambda tensor: torch.cat([tensor, tensor]))
        if texts.trace is not None:
            mask = texts.trace.mask.clone()
            mask[len(batch.texts.ids) :] = False
            texts = replace(texts, trace=replace(texts.trace, mask=mask))
        labels = batch.text_labels
        return replace(
            batch,
            texts=texts,
            positives=batch.positives.repeat(1, 2),
            text_labels=None if labels is None else torch.cat([labels, labels]),
        )
