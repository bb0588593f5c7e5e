"""The nouns between the rooms: what a batch of images, of texts and of their embeddings is.

Boxes are always ``xmin, xmax, ymin, ymax, area``, relative to the picture, origin top left.
Padding is always a ``mask``; the values under it never matter.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Regions:
    """Boxes, grid cells or patches of a batch of images."""

    values: Float[Tensor, "image region feature"]
    mask: Bool[Tensor, "image region"]
    boxes: Float[Tensor, "image region 5"] | None = None
    pooled: Float[Tensor, "image pooled"] | None = None  # the backbone's own whole-image vector


@dataclass(frozen=True, slots=True)
class Trace:
    """What the pointer did while a text was told, already cut into boxes."""

    boxes: Float[Tensor, "text box 5"]
    mask: Bool[Tensor, "text box"]
    times: Float[Tensor, "text box 2"]  # start and end in seconds
    word: Int[Tensor, "text box"]  # the word a box belongs to, -1 when unknown


@dataclass(frozen=True, slots=True)
class Tokens:
    """The words or word pieces of a batch of texts."""

    ids: Int[Tensor, "text word"]
    mask: Bool[Tensor, "text word"]
    values: Float[Tensor, "text word feature"] | None = None  # frozen states of a pretrained tower
    pooled: Float[Tensor, "text pooled"] | None = None
    times: Float[Tensor, "text word 2"] | None = None  # start and end, when spoken or timed
    trace: Trace | None = None


@dataclass(frozen=True, slots=True)
class Embedding:
    """A masked set of vectors an item: 1 part = one vector, K = a set, one a place = local.

    Every method has this type between encoder and similarity, so index and explainer do too.
    """

    vectors: Float[Tensor, "item part dim"]
    mask: Bool[Tensor, "item part"]
    residual: Float[Tensor, "item part dim"] | None = None  # what diversity terms look at
    local: Float[Tensor, "item place local_dim"] | None = None  # what captioning, masking look at
    labels: Float[Tensor, "item label"] | None = None  # above zero where a label is told

    def __len__(self) -> int:
        return self.vectors.shape[0]

    def rows(self, index: Int[Tensor, " row"] | slice) -> "Embedding":
        """Return the items at the index, with all they carry."""
        return map_tensors(self, lambda tensor: tensor[index])


@dataclass(frozen=True, slots=True)
class Offline:
    """Negatives mined before training, for every matching pair of a batch; columns: image, text.

    Their items follow the batch's own ones, so that one pass embeds all; numbers are rows.
    """

    own_images: int  # how many images are the batch's own; the others came as negatives
    own_texts: int
    pair: Int[Tensor, "pair 2"]  # a matching image and text
    negative: Int[Tensor, "pair 2"]  # a hard image for the text, a hard text for the image
    partner: Int[Tensor, "pair 2"]  # the hard text's own image, a text of the hard image


@dataclass(frozen=True, slots=True)
class Hidden:
    """Regions and words taken out of a batch, for methods that must tell what they were."""

    regions: Bool[Tensor, "image region"]  # which are hidden
    values: Float[Tensor, "image region feature"]  # as they were
    words: Bool[Tensor, "text word"]
    ids: Int[Tensor, "text word"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Images and texts that meet in one step, and which of them belong together."""

    images: Regions
    texts: Tokens
    positives: Bool[Tensor, "image text"]  # stored, never the diagonal: a text may fit several
    labels: Float[Tensor, "image label"] | None = None
    text_labels: Float[Tensor, "text label"] | None = None  # of the image a text was written for
    offline: Offline | None = None
    hidden: Hidden | None = None

    def own(self) -> "Batch":
        """The batch without the items that came as offline negatives."""
        if self.offline is None:
            return self
        images, texts = slice(0, self.offline.own_images), slice(0, self.offline.own_texts)
        return Batch(
            map_tensors(self.images, lambda tensor: tensor[images]),
            map_tensors(self.texts, lambda tensor: tensor[texts]),
            self.positives[images, texts],
            None if self.labels is None else self.labels[images],
            None if self.text_labels is None else self.text_labels[texts],
        )


@dataclass(frozen=True, slots=True)
class OfflineScores:
    """How a batch's matching pairs stand against what was mined for them."""

    pair: Int[Tensor, "pair 2"]  # rows of the batch's own images and texts
    hard_text: Float[Tensor, " pair"]  # the pair's image with its hard text
    hard_image: Float[Tensor, " pair"]  # its hard image with the pair's text
    across: Float[Tensor, " pair"]  # hard image with hard text: shares nothing with the pair
    partners: Float[Tensor, " pair"]  # the hard text's image with the hard image's text
    across_matches: Bool[Tensor, " pair"]  # where these happen to be a true match
    partners_match: Bool[Tensor, " pair"]


@dataclass(frozen=True, slots=True)
class Outputs:
    """One forward pass: all that a loss may see."""

    images: Embedding
    texts: Embedding
    scores: Float[Tensor, "image text"]
    batch: Batch
    offline: OfflineScores | None = None


def map_tensors(record: T, change: "Any") -> T:
    """Apply a function to every tensor of a record, nested records included."""
    changed = {}
    for field in fields(record):  # type: ignore[arg-type]
        value = getattr(record, field.name)
        if isinstance(value, Tensor):
            changed[field.name] = change(value)
        elif hasattr(value, "__dataclass_fields__"):
            changed[field.name] = map_tensors(value, change)
    return replace(record, **changed)  # type: ignore[type-var]


def concatenate(parts: "list[Embedding]") -> Embedding:
    """Join what items are ranked and labelled by; sets are padded to the longest among them."""
    longest = max(part.vectors.shape[1] for part in parts)
    vectors = [_padded(part.vectors, longest) for part in parts]
    masks = [_padded(part.mask, longest) for part in parts]
    labels = [part.labels for part in parts if part.labels is not None]
    told = torch.cat(labels) if labels else None
    return Embedding(torch.cat(vectors), torch.cat(masks), labels=told)


def _padded(tensor: Tensor, length: int) -> Tensor:
    missing = length - tensor.shape[1]
    if missing == 0:
        return tensor
    filler = tensor.new_zeros(tensor.shape[0], missing, *tensor.shape[2:])
    return torch.cat([tensor, filler], dim=1)
