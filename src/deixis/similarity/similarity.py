"""What a similarity is: images and texts in, scores out."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from deixis.types import Embedding, as_embedding

PAIRS_AT_ONCE = 1024  # chosen pairs scored at once


@dataclass(frozen=True)
class Pairs:
    """Images and texts that meet: every image with every text (a grid), or row with row.

    ``v`` and ``w`` are views that broadcast over ``*pair``: image × text on a grid, item in rows.
    """

    images: Embedding
    texts: Embedding
    grid: bool

    @property
    def v(self) -> Float[Tensor, "*pair region dim"]:
        """The image parts, shaped to meet the texts."""
        return self.images.vectors.unsqueeze(1) if self.grid else self.images.vectors

    @property
    def w(self) -> Float[Tensor, "*pair word dim"]:
        """The text parts, shaped to meet the images."""
        return self.texts.vectors.unsqueeze(0) if self.grid else self.texts.vectors

    @property
    def v_mask(self) -> Bool[Tensor, "*pair region"]:
        """Which image parts exist."""
        return self.images.mask.unsqueeze(1) if self.grid else self.images.mask

    @property
    def w_mask(self) -> Bool[Tensor, "*pair word"]:
        """Which text parts exist."""
        return self.texts.mask.unsqueeze(0) if self.grid else self.texts.mask

    def affinity(
        self, v: Float[Tensor, "image region dim"], w: Float[Tensor, "text word dim"]
    ) -> Float[Tensor, "*pair region word"]:
        """Dot products of all parts that meet: one matrix product on a grid."""
        return affinity(v, w, grid=self.grid)


class Similarity(nn.Module, ABC):
    """Scores images against texts; a method writes ``score`` and nothing else.

    Called with plain tensors, it takes one vector per item, or one per part of an item.

    >>> Cosine()(torch.eye(2), torch.eye(2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    exact: ClassVar[bool] = False  # an inner-product index over single vectors gives the same order
    # Of N images with N texts of M parts in D dimensions, as papers write it.
    complexity: ClassVar[str] = "O(N²M²D)"

    def __call__(
        self, images: Embedding | Tensor, texts: Embedding | Tensor
    ) -> Float[Tensor, "image text"]:
        """Score every image with every text."""
        return super().__call__(as_embedding(images), as_embedding(texts))

    @abstractmethod
    def score(self, pairs: Pairs) -> Float[Tensor, "*pair"]:
        """Score everything that meets."""

    def forward(self, images: Embedding, texts: Embedding) -> Float[Tensor, "image text"]:
        """Score every image with every text."""
        return self.score(Pairs(images, texts, grid=True))

    def pairs(self, images: Embedding, texts: Embedding) -> Float[Tensor, " item"]:
        """Score image i with text i alone."""
        return self.score(Pairs(images, texts, grid=False))

    def score_pairs(
        self,
        images: Embedding,
        texts: Embedding,
        image: Int[Tensor, " pair"],
        text: Int[Tensor, " pair"],
    ) -> Float[Tensor, " pair"]:
        """Score chosen pairs alone: image ``image[k]`` with text ``text[k]``; in bounded memory."""
        cut = zip(image.split(PAIRS_AT_ONCE), text.split(PAIRS_AT_ONCE), strict=True)
        return torch.cat([self.pairs(images.rows(i), texts.rows(t)) for i, t in cut])

    def bytes_per_pair(self, images: Embedding, texts: Embedding) -> int:
        """How much memory a pair takes while many of them meet."""
        return images.vectors.shape[1] * texts.vectors.shape[1] * 4


class Cosine(Similarity):
    """The cosine of two single vectors, which heads already scaled to unit length.

    *Formula*: ``v · w``. *Paper*: VSE++, VSE∞, VSRN and every two-tower model.
    """

    exact = True
    complexity = "O(N²D)"

    def score(self, pairs: Pairs) -> Float[Tensor, "*pair"]:
        """Multiply the only part of each side."""
        return pairs.affinity(pairs.images.vectors, pairs.texts.vectors)[..., 0, 0]


def affinity(
    v: Float[Tensor, "image region dim"], w: Float[Tensor, "text word dim"], *, grid: bool
) -> Float[Tensor, "*pair region word"]:
    """Dot products of all parts that meet: one matrix product on a grid."""
    if not grid:
        return v @ w.transpose(1, 2)
    flat = v.flatten(0, 1) @ w.flatten(0, 1).T
    return flat.view(*v.shape[:2], *w.shape[:2]).transpose(1, 2)


def broadcast_sides(v: Tensor, w: Tensor, *, grid: bool) -> tuple[Tensor, Tensor]:
    """What belongs to images and to texts, as views that broadcast over everything that meets."""
    return (v.unsqueeze(1), w.unsqueeze(0)) if grid else (v, w)
