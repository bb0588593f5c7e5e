"""Phrases at places: a phrase's map over a picture's cells, read where the phrase is pointed at."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from deixis.similarity.places.moved_regions import MOVES, log_chances, moved_regions
from deixis.similarity.places.place_score import PlaceScore
from deixis.similarity.similarity import Pairs, Similarity
from deixis.types import Embedding


class PlaceMap(Similarity):
    """The score of ``PlaceScore`` on a grid of pictures and phrases, with gradients.

    The text side's only part is the phrase's vector followed by its region, one number per cell.
    *Formula*: see ``PlaceScore``. *Relations*: the softmax of the map over the cells is what
    ``Grounding`` trains.
    """

    complexity = "O(N²CD)"  # with C cells

    def __init__(self, score: PlaceScore) -> None:
        super().__init__()
        self.place_score = score

    def score(self, pairs: Pairs) -> Float[Tensor, "*pair"]:
        """Compare the map under the region with the whole map; without a region 0."""
        dim = pairs.images.vectors.shape[2]
        maps = pairs.affinity(pairs.images.vectors, pairs.texts.vectors[..., :dim])[..., 0]
        region = pairs.w[..., 0, dim:]
        one = self.place_score
        overall = maps.logsumexp(dim=-1) - math.log(maps.shape[-1])
        share = one.weight * (1.0 - one.discount) * overall
        found = self._found(maps, region) - one.weight * one.discount * overall
        floor = torch.full_like(found, math.log(one.floor))
        score = torch.logaddexp(found - share, floor) + share
        return score * region.any(dim=-1)

    def _found(
        self, maps: Float[Tensor, "*pair cell"], region: Float[Tensor, "*text cell"]
    ) -> Float[Tensor, "*pair"]:
        """The weighted mean under the region, averaged over its moves."""
        one = self.place_score
        if not one.spread:
            return one.weight * (maps * region).sum(dim=-1)
        under = torch.from_numpy(moved_regions(region.detach().cpu().numpy())).to(maps)
        chances = torch.from_numpy(log_chances(one.spread)).to(maps)
        means = torch.einsum("...mc,...c->...m", under, maps)
        return (one.weight * means + chances).logsumexp(dim=-1)

    def bytes_per_pair(self, images: Embedding, texts: Embedding) -> int:
        """The map and what is made of it, region moved or not."""
        return (4 + MOVES) * super().bytes_per_pair(images, texts)


def member_maps(
    images: Float[Tensor, "item cell dim"], texts: Float[Tensor, "item wide"], members: int
) -> tuple[Float[Tensor, "member item cell"], Float[Tensor, "item cell"]]:
    """Every member's map of a phrase over one picture each, and the phrases' regions."""
    dim = images.shape[2]
    cells, phrases = (x.unflatten(-1, (members, -1)) for x in (images, texts[:, :dim]))
    return members * torch.einsum("icmd,imd->mic", cells, phrases), texts[:, dim:]
