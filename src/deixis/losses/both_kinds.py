"""Queries with a trace and queries without, each contrasted among their own."""

from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from deixis.losses.base import Loss
from deixis.losses.contrastive import Contrastive
from deixis.types import Outputs


class BothKinds(Loss):
    """A softmax over the traced queries of a batch and one over the bare ones, averaged.

    In one softmax the bare queries, which cannot tell twins apart, would outweigh what the traced
    ones have to learn. *Formula*: ``(Contrastive(traced) + Contrastive(bare)) / 2``, each with a
    scale of its own. *Paper*: ours.
    """

    def __init__(self) -> None:
        super().__init__()
        self.traced = Contrastive()
        self.bare = Contrastive()

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Average over the kinds that are there."""
        traced = _traced(out)
        kinds = [(self.traced, traced), (self.bare, ~traced)]
        return torch.stack([loss(_of(out, own), step) for loss, own in kinds if own.any()]).mean()


def _traced(out: Outputs) -> Bool[Tensor, " text"]:
    trace = out.batch.texts.trace
    if trace is None:
        return torch.zeros_like(out.batch.texts.mask[:, 0])
    return trace.mask.any(dim=1)


def _of(out: Outputs, own: Bool[Tensor, " text"]) -> Outputs:
    """What a loss over scores sees of some texts."""
    labels = out.batch.text_labels
    batch = replace(
        out.batch,
        positives=out.batch.positives[:, own],
        text_labels=None if labels is None else labels[own],
    )
    return replace(out, scores=out.scores[:, own], batch=batch)
