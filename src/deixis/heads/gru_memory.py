"""A GRU over the regions, whose last state is the embedding."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.heads.gru_last_state import last_states
from deixis.heads.l2_normalise import l2_normalise
from deixis.types import Embedding


class GRUMemory(nn.Module):
    """One vector per image: the last state of a GRU that read its regions in detector order.

    The regions are kept as ``places``, for a captioner.
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
        """Read the regions in order, then L2-normalise the last state."""
        (last,) = last_states(self.gru, places, mask.sum(dim=1).clamp(min=1))
        vector = l2_normalise(self.norm(last))
        alone = torch.ones(vector.shape[0], 1, dtype=torch.bool, device=vector.device)
        return Embedding(vector.unsqueeze(1), alone, places=places)
