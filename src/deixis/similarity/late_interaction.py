"""Late interaction: every word takes the region that fits it best."""

from jaxtyping import Float
from torch import Tensor

from deixis.similarity.set_similarity import Exists, Scores, SetSimilarity, Table

NOWHERE = -1e4  # below any product of parts that exist


class LateInteraction(SetSimilarity):
    """The sum over words of the largest product with a region, the largest one softened.

    *Formula*: ``Σ_w log Σ_r exp(⟨v_r, w⟩)``. A word's length says how much it counts: words of no
    length add the same to every image with as many regions.
    *Relations*: its limit for long words, ``Σ_w max_r ⟨v_r, w⟩``, is the first stage of search over
    local vectors. ``CrossAttention`` mixes regions before it compares.
    *Paper*: FILIP 2022, equation 4, text to image: there the mean over words of the maximum, both
    of unit length. With lengths free a model of this size needs no list of words to skip.
    """

    def fold(self, cosines: Table, exists: Exists | None) -> Scores:
        """Soften the maximum over regions, add over words."""
        if exists is None:
            return _soft_best(cosines).sum(dim=1)
        best = _soft_best(cosines.masked_fill(~exists, NOWHERE))
        return best.masked_fill(~exists.any(dim=1), 0.0).sum(dim=1)


def _soft_best(table: Table) -> Float[Tensor, "first word *text"]:
    return table.logsumexp(dim=1)
