"""Losses on the labels predicted for images and texts."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from deixis.errors import RecipeError
from deixis.losses.objective import Loss
from deixis.types import Outputs


class LabelCrossEntropy(Loss):
    """Binary cross-entropy of every label of every image and text.

    *Formula*: the logits' cross-entropy, summed over labels, averaged over items of both sides. The
    sum is the likelihood of an item's labels, and weighs beside other terms as DSCMR's distance
    does, however many labels there are.
    *Needs*: labels; a text has those of the image it was written for.
    """

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Average over both sides."""
        predicted, true = predicted_labels(out), true_labels(out)
        return binary_cross_entropy_with_logits(predicted, true, reduction="sum") / len(predicted)


class LabelAgreement(Loss):
    """Agreement of predicted and true labels; further predicted labels cost nothing.

    *Formula*: the mean over items of both sides of ``log(1 + exp(−⟨predicted, labels⟩))``.
    *Relations*: wrong labels are punished only where the head shares a fixed length among all.
    *Needs*: labels, and vectors that are shares of labels.
    *Paper*: the published code of semantic sharing.
    """

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Average over both sides."""
        predicted = torch.cat([out.images.vectors[:, 0], out.texts.vectors[:, 0]])
        return softplus(-(predicted * true_labels(out)).sum(dim=1)).mean()


class LabelDistance(Loss):
    """The distance between predicted and true labels.

    *Formula*: ``mean ‖p − y‖`` over images plus the same over texts, not squared.
    *Needs*: labels.
    *Paper*: DSCMR 2019, equation 4. The root is clamped, since its slope at zero is infinite.
    """

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Add both sides."""
        squared = (predicted_labels(out) + 0.5 - true_labels(out)).square().sum(dim=1)
        images, texts = squared.clamp(min=1e-12).sqrt().split([len(out.images), len(out.texts)])
        return images.mean() + texts.mean()


def predicted_labels(out: Outputs) -> Float[Tensor, "item label"]:
    """The labels predicted for images, then for texts."""
    if out.images.labels is None or out.texts.labels is None:
        raise RecipeError("a label loss needs heads that predict labels")
    return torch.cat([out.images.labels, out.texts.labels])


def true_labels(out: Outputs) -> Float[Tensor, "item label"]:
    """The labels of images, then of texts: those of the image a text was written for."""
    labels, of_texts = out.batch.labels, out.batch.text_labels
    if labels is None or of_texts is None:
        raise RecipeError("a label loss needs a corpus with labels; this one has none")
    return torch.cat([labels, of_texts])
