"""Batches whose boxes are moved and resized at random, as if recalled from memory."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from deixis.data.groundings.remembered_places import SIZES, moved_boxes
from deixis.types import Batch


@dataclass(frozen=True)
class JitteredBatches:
    """Each text's boxes moved together by a normal step and resized, again at every step.

    The standard deviation of the move is drawn per text between 0 and ``most``, in sides of the
    picture: some places are recalled well, some badly.
    """

    batches: Any  # what has a length and gives the batch of a step
    most: float
    seed: int

    def __len__(self) -> int:
        """Batches per epoch."""
        return len(self.batches)

    def at(self, step: int) -> Batch:
        """The batch of a step."""
        batch: Batch = self.batches.at(step)
        trace = batch.texts.trace
        if trace is None:
            return batch
        random = np.random.default_rng((self.seed, step, 2))
        texts = len(trace.boxes)
        moves = random.normal(size=(texts, 2)) * random.uniform(0.0, self.most, (texts, 1))
        sizes = np.exp(random.normal(0.0, SIZES, texts))
        boxes = moved_boxes(trace.boxes.numpy(), trace.mask.numpy(), moves, sizes)
        moved = replace(trace, boxes=torch.from_numpy(boxes))
        return replace(batch, texts=replace(batch.texts, trace=moved))
