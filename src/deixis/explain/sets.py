"""What the sets of a model are like: spread, idle slots, what each element looks at and means."""

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from deixis.encoders.encoder import Encoder
from deixis.errors import RunError
from deixis.types import Embedding, Regions


@runtime_checkable
class WatchedHead(Protocol):
    """A head whose elements attend to places, and which shows it."""

    def watch(
        self, places: Float[Tensor, "item place size"], mask: Bool[Tensor, "item place"], /
    ) -> Float[Tensor, "item round part place"]:
        """What share each element takes from each place, round by round."""
        ...


@dataclass(frozen=True)
class SetHealth:
    """Whether sets have collapsed and whether slots are idle."""

    image_variance: float  # mean circular variance; 0: all elements of a set are one
    text_variance: float
    image_wins: tuple[float, ...]  # share of matching pairs whose best cosine a slot takes part in
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

    *Formula*: ``1 − ‖mean_k x_k‖``: 0 when all are one, 1 when they cancel out.

    >>> circular_variance(torch.tensor([[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [-1.0, 0.0]]]))
    tensor([0., 1.])
    """
    return 1.0 - vectors.mean(dim=1).norm(dim=1)


def nearest_texts(elements: Float[Tensor, "part dim"], texts: Embedding) -> Int[Tensor, " part"]:
    """The text that holds the element nearest to each of some image's elements."""
    cosines = torch.einsum("kd,tld->ktl", elements, texts.vectors)
    return cosines.amax(dim=2).argmax(dim=1)


@torch.no_grad()
def attention_of(encoder: Encoder, regions: Regions) -> Float[Tensor, "image round part region"]:
    """What each element of each image looks at, round by round."""
    if not isinstance(encoder.head, WatchedHead):
        raise RunError("this model's images are not sets made by attention; try a DivE or PVSE run")
    return encoder.head.watch(*encoder.body(regions))


def _shares(winners: Int[Tensor, " pair"], parts: int) -> tuple[float, ...]:
    counts = torch.bincount(winners, minlength=parts)
    return tuple((counts / len(winners)).tolist())


def _log(value: float) -> float:
    return math.log(max(value, 1e-12))
