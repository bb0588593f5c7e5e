"""Towers trained with the head: pixels or word pieces in, regions or token states out."""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from deixis.encoders.encoder import Encoder
from deixis.features.backbones.transformers_towers import TextTower, VisionTower
from deixis.features.store.boxes import grid_boxes
from deixis.types import Embedding, Regions, Tokens


class TrainableTower(Encoder):
    """A pretrained tower in front of an encoder; a recipe's rates name it ``image.tower``.

    Batch normalisation keeps the statistics it was pretrained with: batches here are too small and
    too unlike its own to replace them.
    """

    tower: nn.Module

    def __init__(self, tower: nn.Module, inner: Encoder) -> None:
        nn.Module.__init__(self)  # body and head are the inner encoder's
        self.tower = tower
        self.inner = inner

    @property
    def body(self) -> Any:  # type: ignore[override]
        """The inner encoder's body."""
        return self.inner.body

    @property
    def head(self) -> Any:  # type: ignore[override]
        """The inner encoder's head."""
        return self.inner.head

    def for_head(self, batch: Regions | Tokens) -> tuple[Any, ...]:
        """What the inner encoder's head is given of regions or tokens, not of pixels."""
        return self.inner.for_head(batch)

    def train(self, mode: bool = True) -> "TrainableTower":
        """Train all but the tower's batch statistics."""
        super().train(mode)
        for module in self.tower.modules():
            if isinstance(module, nn.modules.batchnorm._BatchNorm):
                module.eval()
        return self


class TrainableImageTower(TrainableTower):
    """A vision tower in front of an image encoder."""

    def __init__(self, tower: VisionTower, inner: Encoder) -> None:
        super().__init__(tower, inner)

    def forward(self, batch: Regions | Tokens) -> Embedding:
        """Turn pixels into patches, then encode these."""
        assert isinstance(batch, Regions)
        return self.inner(self.patches(batch))

    def patches(self, batch: Regions) -> Regions:
        """The tower's patches of pictures given as pixels, with their places on a square grid."""
        values, whole = self.tower(as_pictures(batch.values))
        count, parts = values.shape[:2]
        mask = torch.ones(count, parts, dtype=torch.bool, device=values.device)
        boxes = torch.from_numpy(grid_boxes(math.isqrt(parts))).to(values.device)
        return Regions(values, mask, boxes.expand(count, parts, 5), whole)


class TrainableTextTower(TrainableTower):
    """A text tower in front of a text encoder."""

    def __init__(self, tower: TextTower, inner: Encoder) -> None:
        super().__init__(tower, inner)

    def forward(self, batch: Regions | Tokens) -> Embedding:
        """Read word pieces, then encode their states."""
        assert isinstance(batch, Tokens)
        states, whole = self.tower(batch.ids, batch.mask)
        return self.inner(Tokens(batch.ids, batch.mask, states, whole))


def as_pictures(pixels: Float[Tensor, "image pixel 3"]) -> Float[Tensor, "image y x 3"]:
    """Pixels laid out row by row, as pictures again."""
    side = round(pixels.shape[1] ** 0.5)
    return pixels.reshape(pixels.shape[0], side, side, 3)
