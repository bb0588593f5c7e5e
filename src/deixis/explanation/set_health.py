"""Set embeddings: how far they spread, which slots are unused, which text an element is near."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deixis.types import Embedding


@dataclass(frozen=True)
class SetHealth:
    """Whether sets have collapsed and whether slots are unused."""

    image_variance: float  # mean circular variance; 0 if all elements of a set are equal
    text_variance: float
    image_wins: tuple[float, ...]  # share of matching pairs whose best cosine is this slot's
    text_wins: tuple[float, ...]

    def logs(self) -> tuple[float, float]:
        """Natural logarithms of the variances, as papers print them."""
        return _log(self.image_variance), _log(self.text_variance)


def health(images: Embedding, texts: Embedding, pairs: Int[Tensor, "pair 2"]) -> SetHealth:
    """Measure the sets of matching images and texts."""
    image, text = pairs.T
    cosines = images.vectors[image] @ texts.vectors[text].transpose(1, 2)
    best = cosines.flatten(1).argmax(dim=1)
    words = texts.vectors.shape[1]
    return SetHealth(
        circular_variance(images.vectors).mean().item(),
        circular_variance(texts.vectors).mean().item(),
        _shares(best // words, images.vectors.shape[1]),
        _shares(best % words, words),
    )


def circular_variance(vectors: Float[Tensor, "item part dim"]) -> Float[Tensor, " item"]:
    """How far the unit vectors of a set point apart.

    *Formula*: ``1 − ‖mean_k x_k‖``: 0 when all are equal, 1 when they cancel out.

    >>> circular_variance(torch.tensor([[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [-1.0, 0.0]]]))
    tensor([0., 1.])
    """
    return 1.0 - vectors.mean(dim=1).norm(dim=1)


def nearest_texts(elements: Float[Tensor, "part dim"], texts: Embedding) -> Int[Tensor, " part"]:
    """For each element of an image, the text with the nearest element."""
    cosines = torch.einsum("kd,tld->ktl", elements, texts.vectors)
    return cosines.amax(dim=2).argmax(dim=1)


def _shares(winners: Int[Tensor, " pair"], parts: int) -> tuple[float, ...]:
    counts = torch.bincount(winners, minlength=parts)
    return tuple((counts / len(winners)).tolist())


def _log(value: float) -> float:
    return math.log(max(value, 1e-12))
