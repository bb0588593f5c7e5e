"""A head that reads its places in order and remembers."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.heads.ends import ends
from deixis.heads.unit import unit
from deixis.types import Embedding


class Memory(nn.Module):
    """One vector an image: the last state of a GRU that read its regions in detector order.

    The regions stay beside it as ``local``, for what describes the image in words.
    *Paper*: VSRN 2019, equations 5 to 8. On Flickr30K the published code normalises the last
    state over the batch, on COCO not.
    """

    def __init__(self, dim: int, *, batch_norm: bool) -> None:
        super().__init__()
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.norm: nn.Module = nn.BatchNorm1d(dim) if batch_norm else nn.Identity()

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Read, remember, scale to unit length."""
        (last,) = ends(self.gru, places, mask.sum(dim=1).clamp(min=1))
        vector = unit(self.norm(last))
        alone = torch.ones(vector.shape[0], 1, dtype=torch.bool, device=vector.device)
        return Embedding(vector.unsqueeze(1), alone, local=places)
