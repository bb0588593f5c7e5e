"""Penalise residuals of a set that are not orthogonal."""

from jaxtyping import Float
from torch import Tensor

from deixis.heads.l2_normalise import l2_normalise
from deixis.losses.objective import Loss
from deixis.losses.sets.uniformity import pairs_within
from deixis.types import Embedding, Outputs


class Diversity(Loss):
    """The distance of a set's residuals from an orthogonal set.

    *Formula*: per set ``‖G − I‖ / K²`` (Frobenius), G the cosines of its K residuals; the mean over
    images plus the mean over texts.
    *Paper*: PVSE 2019.
    """

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Add both sides up."""
        return self._within(out.images) + self._within(out.texts)

    def _within(self, embedding: Embedding) -> Float[Tensor, ""]:
        assert embedding.residual is not None
        parts = l2_normalise(embedding.residual)
        cosines = parts @ parts.transpose(1, 2)
        apart = cosines.masked_fill(~pairs_within(embedding.mask), 0.0)
        size = embedding.mask.sum(dim=1).clamp(min=1)
        # Clamped before the root, whose slope at zero is infinite: a set of one has no pairs.
        norm = apart.square().sum(dim=(1, 2)).clamp(min=1e-24).sqrt()
        return (norm / size.square()).mean()
