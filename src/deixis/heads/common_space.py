"""The head of DSCMR: a space both modalities share, and labels predicted from it."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.heads.l2_normalise import l2_normalise
from deixis.heads.pooling import masked_mean
from deixis.types import Embedding


class CommonSpace(nn.Module):
    """One vector per item through a layer, its labels through another; both may be shared.

    *Formula*: ``u = W mean(places)``, predicted labels ``p = C u``. The vector is u, L2-normalised;
    u itself is kept as ``representation``, and ``p − ½`` as ``labels``: p is fitted to 0 and 1.
    *Paper*: DSCMR 2019, section 3.2.
    """

    def __init__(self, layer: nn.Linear, classifier: nn.Linear) -> None:
        super().__init__()
        self.layer = layer
        self.classifier = classifier

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Pool, project, classify."""
        vector = self.layer(masked_mean(places, mask))
        alone = torch.ones(len(vector), 1, dtype=torch.bool, device=vector.device)
        return Embedding(
            l2_normalise(vector).unsqueeze(1),
            alone,
            representation=vector,
            labels=self.classifier(vector) - 0.5,
        )
