"""Images embedded twice, side by side: for queries with a trace and for queries without."""

import math

import torch

from deixis.encoders.encoder import Encoder
from deixis.types import Embedding, Regions, Tokens


class DualImage(Encoder):
    """Two image towers whose unit vectors stand side by side at unit length.

    *Formula*: ``[untraced; traced] / √2``. A query that is zero in one half meets the other alone,
    so one index serves both kinds. Towers that share a trunk bind words to places far worse: what
    helps a query without a trace is to forget where things are.
    *Paper*: ours.
    """

    def __init__(self, traced: Encoder, bare: Encoder) -> None:
        super().__init__(traced.body, traced.head)
        self.bare = bare

    def forward(self, batch: Regions | Tokens) -> Embedding:
        """Embed every image for both kinds of query."""
        bare, traced = self.bare(batch), super().forward(batch)
        return Embedding(
            torch.cat([bare.vectors, traced.vectors], dim=-1) / math.sqrt(2), bare.mask
        )
