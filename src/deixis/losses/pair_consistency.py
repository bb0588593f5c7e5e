"""Losses that tie the two modalities: by labels, and by matching pairs."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cosine_similarity, softplus

from deixis.errors import RecipeError
from deixis.losses.label_losses import true_labels
from deixis.losses.objective import Loss
from deixis.types import Outputs

LabelLikeness = Literal["count", "any"]


class PairLikelihood(Loss):
    """Pull items with shared labels together, within and across modalities; push others apart.

    *Formula*: ``mean log(1 + e^θ) − S θ`` over image–image, image–text and text–text pairs, added
    up; ``θ = cos / 2``, S how alike the labels are: their number in common (``count``), or whether
    there is any (``any``).
    *Needs*: labels.
    *Paper*: DSCMR 2019, equation 6. Its count exceeds one where items have several labels, and
    the likelihood then grows without bound; ``any`` is the remedy.
    """

    def __init__(self, alike: LabelLikeness = "any") -> None:
        super().__init__()
        self.alike = alike

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Add the three kinds of pairs."""
        images, texts = representations(out)
        of_images, of_texts = true_labels(out).split([len(images), len(texts)])
        both = (images, of_images), (texts, of_texts)
        pairs = ((both[0], both[0]), (both[0], both[1]), (both[1], both[1]))
        terms = [self._pairs(*one, *other) for one, other in pairs]
        return torch.stack(terms).sum()

    def _pairs(
        self,
        one: Float[Tensor, "one dim"],
        one_labels: Float[Tensor, "one label"],
        other: Float[Tensor, "other dim"],
        other_labels: Float[Tensor, "other label"],
    ) -> Float[Tensor, ""]:
        theta = cosine_similarity(one.unsqueeze(1), other.unsqueeze(0), dim=2, eps=1e-6) / 2
        shared = one_labels @ other_labels.T
        alike = shared if self.alike == "count" else shared.clamp(max=1)
        return (softplus(theta) - alike * theta).mean()


class PairDistance(Loss):
    """The distance between an image and its text.

    *Formula*: the mean over matching pairs of ``‖u − v‖``, not squared.
    *Paper*: DSCMR 2019, equation 7. The root is clamped, since its slope at zero is infinite.
    """

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Average over matching pairs."""
        images, texts = representations(out)
        image, text = out.batch.positives.nonzero(as_tuple=True)
        squared = (images[image] - texts[text]).square().sum(dim=1)
        return squared.clamp(min=1e-12).sqrt().mean()


def representations(out: Outputs) -> tuple[Float[Tensor, "image dim"], Float[Tensor, "text dim"]]:
    """The vectors that images and texts predict their labels from."""
    images, texts = out.images.representation, out.texts.representation
    if images is None or texts is None:
        raise RecipeError("a consistency loss needs heads that predict labels")
    return images, texts
