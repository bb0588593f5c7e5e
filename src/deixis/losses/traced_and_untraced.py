"""InfoNCE for queries with a trace and for queries without, computed separately."""

from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from deixis.losses.infonce import InfoNCE
from deixis.losses.objective import Loss
from deixis.types import Outputs


class TracedAndUntraced(Loss):
    """A softmax over the traced queries of a batch and one over the untraced ones, averaged.

    In one softmax the untraced queries, which cannot distinguish twins, would outweigh what the
    traced ones have to learn. *Formula*: ``(InfoNCE(traced) + InfoNCE(untraced)) / 2``,
    each with a scale of its own. *Paper*: ours.
    """

    def __init__(self, temperature: float = 0.07) -> None:
        super().__init__()
        self.traced = InfoNCE(temperature)
        self.bare = InfoNCE(temperature)

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Average over the kinds that are there."""
        traced = out.batch.texts.has_trace
        kinds = [(self.traced, traced), (self.bare, ~traced)]
        return torch.stack([loss(_of(out, own), step) for loss, own in kinds if own.any()]).mean()


def _of(out: Outputs, own: Bool[Tensor, " text"]) -> Outputs:
    """The outputs restricted to some texts."""
    labels = out.batch.text_labels
    batch = replace(
        out.batch,
        positives=out.batch.positives[:, own],
        text_labels=None if labels is None else labels[own],
    )
    return replace(out, scores=out.scores[:, own], batch=batch)
