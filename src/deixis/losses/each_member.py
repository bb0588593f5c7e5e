"""A loss applied to every member of an ensemble by its own scores."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from deixis.losses.objective import Loss
from deixis.types import Outputs


class EachMember(Loss):
    """The mean of one loss per member, each on only that member's cosines.

    *Needs*: single vectors that are the members' unit vectors side by side.
    *Relations*: with one member it is that member's loss. A loss on the joint score would train
    one wide model, whose members need not agree with the texts each on its own.
    """

    def __init__(self, losses: Sequence[Loss]) -> None:
        super().__init__()
        self.losses = nn.ModuleList(losses)

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Cut both sides into members and average their losses."""
        count = len(self.losses)
        sides = (out.images.vectors[:, 0], out.texts.vectors[:, 0])
        images, texts = (side.chunk(count, dim=-1) for side in sides)
        each = [
            loss(replace(out, scores=count * image @ text.T), step)
            for loss, image, text in zip(self.losses, images, texts, strict=True)
        ]
        return torch.stack(each).mean()
