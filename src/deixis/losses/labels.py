"""Losses on the labels that images and texts tell."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from deixis.errors import RecipeError
from deixis.losses.base import Loss
from deixis.types import Outputs


class LabelEntropy(Loss):
    """Each label of each image and text is a yes-or-no question.

    *Formula*: binary cross-entropy of the logits, added up over labels, averaged over items of
    both sides. Added up it is the likelihood of an item's labels, and weighs beside other terms
    as DSCMR's distance does, however many labels there are.
    *Needs*: labels; a text has those of the image it was written for.
    """

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Average over both sides."""
        told, true = told_labels(out), true_labels(out)
        return binary_cross_entropy_with_logits(told, true, reduction="sum") / len(told)


class LabelAgreement(Loss):
    """What an item tells must agree with its labels; what it tells beyond them costs nothing.

    *Formula*: the mean over items of both sides of ``log(1 + exp(−⟨told, labels⟩))``.
    *Relations*: wrong labels are punished only where the head shares a fixed length among all.
    *Needs*: labels, and vectors that are shares of labels.
    *Paper*: the published code of semantic sharing.
    """

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Average over both sides."""
        told = torch.cat([out.images.vectors[:, 0], out.texts.vectors[:, 0]])
        return softplus(-(told * true_labels(out)).sum(dim=1)).mean()


class LabelDistance(Loss):
    """The distance of what is told from the labels themselves.

    *Formula*: ``mean ‖p − y‖`` over images plus the same over texts, not squared.
    *Needs*: labels.
    *Paper*: DSCMR 2019, equation 4. The root is clamped, since its slope at zero is infinite.
    """

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Add both sides."""
        squared = (told_labels(out) + 0.5 - true_labels(out)).square().sum(dim=1)
        images, texts = squared.clamp(min=1e-12).sqrt().split([len(out.images), len(out.texts)])
        return images.mean() + texts.mean()


def told_labels(out: Outputs) -> Float[Tensor, "item label"]:
    """What images, then texts, tell of their labels."""
    if out.images.labels is None or out.texts.labels is None:
        raise RecipeError("a label loss needs heads that tell labels")
    return torch.cat([out.images.labels, out.texts.labels])


def true_labels(out: Outputs) -> Float[Tensor, "item label"]:
    """The labels of images, then of texts: those of the image a text was written for."""
    labels, of_texts = out.batch.labels, out.batch.text_labels
    if labels is None or of_texts is None:
        raise RecipeError("a label loss needs a corpus with labels; this one has none")
    return torch.cat([labels, of_texts])
