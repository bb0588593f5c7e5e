"""Grid cells dropped at random in training, after a tower that is trained as well."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.encoder import Body
from deixis.types import Regions, Tokens

SHARE = 0.2  # of the cells, at most; and of the pictures that keep all of theirs


class ThinnedGrid(nn.Module):
    """A body whose cells are thinned out in training, so that pooling meets sets of any size.

    *Formula*: u uniform per picture; where u ≤ 0.2 all cells stay, else each leaves with
    probability 0.2 u. *Paper*: VSE∞ 2021, size augmentation of grids, as its code has it; a picture
    never loses all of its cells here.
    """

    def __init__(self, body: Body) -> None:
        super().__init__()
        self.body = body

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """The body's vectors; in training some of them no longer exist."""
        places, mask = self.body(batch)
        return places, self.thinned(mask) if self.training else mask

    def thinned(self, mask: Bool[Tensor, "item place"]) -> Bool[Tensor, "item place"]:
        """The cells that stay, drawn from torch's generator as dropout is."""
        per_picture = torch.rand(len(mask), 1, device=mask.device)
        share = SHARE * per_picture.masked_fill(per_picture <= SHARE, 0.0)
        kept = mask & (torch.rand(mask.shape, device=mask.device) >= share)
        return torch.where(kept.any(dim=1, keepdim=True), kept, mask)
