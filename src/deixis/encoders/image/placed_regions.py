"""Regions with their boxes, through a transformer."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.positions.box_embedding import (
    BoxCode,
    BoxEmbedding,
    BoxVector,
    bind_to_place,
    feed_forward,
)
from deixis.encoders.transformer import Transformer
from deixis.errors import RecipeError
from deixis.types import Regions, Tokens


class PlacedRegions(nn.Module):
    """The image-region embedder and the image transformer behind it.

    *Formula*: ``Transformer(f ⊙ (1 + g))`` with f = FFN(feature) and g = Geometry(box). Regions
    have no positions, so their order never matters, and permuting them in training, as the paper
    does, changes nothing.
    *Paper*: text + trace 2021, A.1; how feature and geometry are joined is not printed. Joined by
    an FFN over both, small models bind things to places ten times later.
    """

    def __init__(
        self,
        size: int,
        embed_dim: int,
        geometry: BoxCode,
        dropout: float,
        transformer: Transformer,
    ) -> None:
        super().__init__()
        self.geometry = BoxEmbedding(embed_dim, geometry, dropout)
        self.feature = feed_forward(size, embed_dim, embed_dim, dropout)
        self.transformer = transformer

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Embed every region with its box, then let the regions look at each other."""
        assert isinstance(batch, Regions)
        regions = bind_to_place(self.feature(batch.values), self.geometry(boxes_of(batch)))
        return self.transformer(regions, batch.mask), batch.mask


class ConcatenatedRegions(nn.Module):
    """Feature and projected box side by side, through one FFN, then the image transformer.

    *Formula*: ``Transformer(FFN([feature; W box + b]))``: 2048 + 512 = 2560 numbers enter the FFN.
    *Relations*: ``PlacedRegions`` multiplies the two instead, after an FFN each.
    *Paper*: text + trace 2021, A.1, where the 5-vector is projected to 512 as a whole.
    """

    def __init__(self, size: int, embed_dim: int, dropout: float, transformer: Transformer) -> None:
        super().__init__()
        self.box = BoxVector(embed_dim)
        self.feed = feed_forward(size + embed_dim, embed_dim, embed_dim, dropout)
        self.transformer = transformer

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Embed every region with its box, then let the regions look at each other."""
        assert isinstance(batch, Regions)
        both = torch.cat([batch.values, self.box(boxes_of(batch))], dim=-1)
        return self.transformer(self.feed(both), batch.mask), batch.mask


def boxes_of(batch: Regions) -> Float[Tensor, "image region 5"]:
    """The boxes of regions; features without boxes are refused."""
    if batch.boxes is None:
        raise RecipeError("this encoder needs regions with boxes; choose features with boxes")
    return batch.boxes
