"""Penalise elements of a set that lie close together on the sphere."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from deixis.heads.l2_normalise import l2_normalise
from deixis.losses.objective import Loss
from deixis.types import Embedding, Outputs

RATE = 2.0  # the potential's decay


class Uniformity(Loss):
    """The Gaussian potential between the elements of a set, before the whole is added to them.

    *Formula*: per set the mean over pairs of ``exp(−2 ‖u_k − u_l‖²)``, u the residuals at unit
    length; the mean over images plus the mean over texts. A set of one scores 0.
    *Paper*: the diversity term of DivE 2023.
    """

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Add both sides up."""
        return self._within(out.images) + self._within(out.texts)

    def _within(self, embedding: Embedding) -> Float[Tensor, ""]:
        assert embedding.residual is not None
        parts = l2_normalise(embedding.residual)
        potential = (2 * RATE * (parts @ parts.transpose(1, 2) - 1)).exp()
        pairs = pairs_within(embedding.mask)
        count = pairs.sum(dim=(1, 2)).clamp(min=1)
        return (potential.masked_fill(~pairs, 0.0).sum(dim=(1, 2)) / count).mean()


def pairs_within(mask: Bool[Tensor, "item part"]) -> Bool[Tensor, "item part part"]:
    """Which two different elements of a set both exist."""
    same = torch.eye(mask.shape[1], dtype=torch.bool, device=mask.device)
    return mask[:, :, None] & mask[:, None, :] & ~same
