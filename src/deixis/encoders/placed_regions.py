"""Regions that know their place, through a transformer."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.geometry import Geometry, GeometryCode, bound, feed_forward
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
        geometry: GeometryCode,
        dropout: float,
        transformer: Transformer,
    ) -> None:
        super().__init__()
        self.geometry = Geometry(embed_dim, geometry, dropout)
        self.feature = feed_forward(size, embed_dim, embed_dim, dropout)
        self.transformer = transformer

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Embed every region with its box, then let the regions look at each other."""
        assert isinstance(batch, Regions)
        if batch.boxes is None:
            raise RecipeError("this encoder needs regions with boxes; choose features with boxes")
        regions = bound(self.feature(batch.values), self.geometry(batch.boxes))
        return self.transformer(regions, batch.mask), batch.mask
