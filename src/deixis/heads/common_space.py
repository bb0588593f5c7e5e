"""The head of DSCMR: a space both modalities share, and labels told from it."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.heads.labels import masked_mean
from deixis.heads.unit import unit
from deixis.types import Embedding


class CommonSpace(nn.Module):
    """One vector an item through a layer, and its labels through another; both may be shared.

    *Formula*: ``u = W mean(places)``, told labels ``p = C u``. The vector is u of unit length, u
    itself stays beside it as ``residual``, and ``p − ½`` as ``labels``: p is fitted to 0 and 1.
    *Paper*: DSCMR 2019, section 3.2.
    """

    def __init__(self, layer: nn.Linear, classifier: nn.Linear) -> None:
        super().__init__()
        self.layer = layer
        self.classifier = classifier

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Embedding:
        """Pool, map, tell."""
        vector = self.layer(masked_mean(places, mask))
        alone = torch.ones(len(vector), 1, dtype=torch.bool, device=vector.device)
        return Embedding(
            unit(vector).unsqueeze(1),
            alone,
            residual=vector.unsqueeze(1),
            labels=self.classifier(vector) - 0.5,
        )
