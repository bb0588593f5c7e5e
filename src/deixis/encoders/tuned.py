"""Towers trained with the head: pixels or word pieces in, what a method encodes from out."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from deixis.encoders.encoder import Encoder
from deixis.features.towers import TextTower, VisionTower
from deixis.types import Embedding, Regions, Tokens


class Tuned(Encoder):
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

    def train(self, mode: bool = True) -> "Tuned":
        """Train all but the tower's batch statistics."""
        super().train(mode)
        for module in self.tower.modules():
            if isinstance(module, nn.modules.batchnorm._BatchNorm):
                module.eval()
        return self


class TunedImage(Tuned):
    """A vision tower in front of an image encoder."""

    def __init__(self, tower: VisionTower, inner: Encoder) -> None:
        super().__init__(tower, inner)

    def forward(self, batch: Regions | Tokens) -> Embedding:
        """See pixels, then encode the patches."""
        assert isinstance(batch, Regions)
        patches, whole = self.tower(square(batch.values))
        mask = torch.ones(patches.shape[:2], dtype=torch.bool, device=patches.device)
        return self.inner(Regions(patches, mask, pooled=whole))


class TunedText(Tuned):
    """A text tower in front of a text encoder."""

    def __init__(self, tower: TextTower, inner: Encoder) -> None:
        super().__init__(tower, inner)

    def forward(self, batch: Regions | Tokens) -> Embedding:
        """Read word pieces, then encode their states."""
        assert isinstance(batch, Tokens)
        states, whole = self.tower(batch.ids, batch.mask)
        return self.inner(Tokens(batch.ids, batch.mask, states, whole))


def square(pixels: Float[Tensor, "image pixel 3"]) -> Float[Tensor, "image y x 3"]:
    """Pixels laid out row by row, as pictures again."""
    side = round(pixels.shape[1] ** 0.5)
    return pixels.reshape(pixels.shape[0], side, side, 3)
