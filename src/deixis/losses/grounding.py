"""A phrase's map must be high where people say that its thing is."""

from jaxtyping import Float
from torch import Tensor

from deixis.losses.objective import Loss
from deixis.similarity.places.place_map import member_maps
from deixis.types import Outputs


class Grounding(Loss):
    """Cross-entropy between a softmax over the picture's own cells and the region of the phrase.

    *Formula*: the mean over matching pairs with a region of ``−Σ r(c) log softmax(s)(c)`` with r
    the region (it adds up to one) and s the phrase's map over the cells c.
    *Needs*: phrases with regions, as ``PhraseProjection`` makes them.
    Of several members each learns by its own map.
    *Relations*: no other picture is a negative; only places within one picture compete. With a
    region of one cell it is the softmax cross-entropy of classifying the cell.
    """

    def __init__(self, members: int = 1) -> None:
        super().__init__()
        self.members = members

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Average over the phrases that are pointed at."""
        image, text = out.batch.positives.nonzero(as_tuple=True)
        cells, phrases = out.images.vectors[image], out.texts.vectors[text, 0]
        maps, regions = member_maps(cells, phrases, self.members)
        each = -(regions * maps.log_softmax(dim=-1)).sum(dim=-1).mean(dim=0)
        return each.sum() / regions.any(dim=-1).sum().clamp(min=1)
