"""Keeps what makes the elements of a set different at right angles."""

from jaxtyping import Float
from torch import Tensor

from deixis.heads.unit import unit
from deixis.losses.base import Loss
from deixis.losses.uniformity import pairs_within
from deixis.types import Embedding, Outputs


class Diversity(Loss):
    """How far the residuals of a set are from orthogonal.

    *Formula*: per set ``‖G − I‖ / K²`` (Frobenius), G the cosines of its K residuals; the mean over
    images plus the mean over texts.
    *Paper*: PVSE 2019.
    """

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Add both sides up."""
        return self._within(out.images) + self._within(out.texts)

    def _within(self, embedding: Embedding) -> Float[Tensor, ""]:
        assert embedding.residual is not None
        parts = unit(embedding.residual)
        cosines = parts @ parts.transpose(1, 2)
        apart = cosines.masked_fill(~pairs_within(embedding.mask), 0.0)
        size = embedding.mask.sum(dim=1).clamp(min=1)
        # Clamped before the root, whose slope at zero is infinite: a set of one has no pairs.
        norm = apart.square().sum(dim=(1, 2)).clamp(min=1e-24).sqrt()
        return (norm / size.square()).mean()
