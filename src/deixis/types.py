"""Types passed between packages: what a batch of images, of texts and of their embeddings is.

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
    """What the pointer did while a text was spoken, already cut into boxes."""

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

    @property
    def has_trace(self) -> Bool[Tensor, " text"]:
        """Which texts have at least one box of a trace."""
        if self.trace is None:
            return torch.zeros(len(self.ids), dtype=torch.bool, device=self.ids.device)
        return self.trace.mask.any(dim=1)


@dataclass(frozen=True, slots=True)
class Embedding:
    """A masked set of vectors per item: one vector, a set of K, or one vector per region or word.

    Every method has this type between encoder and similarity, so index and explainer do too.
    The optional fields are what some losses need beside the vectors; no similarity reads them.
    """

    vectors: Float[Tensor, "item part dim"]
    mask: Bool[Tensor, "item part"]
    residual: Float[Tensor, "item part dim"] | None = None  # set elements before the item is added
    representation: Float[Tensor, "item space"] | None = None  # what labels are predicted from
    places: Float[Tensor, "item place place_dim"] | None = None  # contextual regions or words
    labels: Float[Tensor, "item label"] | None = None  # logits: a label is predicted above zero

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
    # The hard text's own image, a text of the hard image; None where no loss looks at them.
    partner: Int[Tensor, "pair 2"] | None = None


@dataclass(frozen=True, slots=True)
class MaskedInputs:
    """Regions and words masked in a batch, for methods that predict them."""

    regions: Bool[Tensor, "image region"]  # which are hidden
    values: Float[Tensor, "image region feature"]  # as they were
    words: Bool[Tensor, "text word"]
    ids: Int[Tensor, "text word"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the features dictate; 0 where the features have no such thing."""

    region: int = 0  # width of a region's vector
    image: int = 0  # width of the backbone's whole-image vector
    token: int = 0  # width of frozen token states
    text: int = 0  # width of the backbone's whole-text vector
    vocabulary: int = 0  # words or word pieces
    labels: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Images and texts that meet in one step, and which of them belong together."""

    images: Regions
    texts: Tokens
    positives: Bool[Tensor, "image text"]  # stored, never the diagonal: a text may fit several
    labels: Float[Tensor, "image label"] | None = None
    text_labels: Float[Tensor, "text label"] | None = None  # of the image a text was written for
    offline: Offline | None = None
    masked: MaskedInputs | None = None

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
class ApartScores:
    """Scores of pairs made of mined items alone, which share nothing with the matching pair."""

    scores: Float[Tensor, " pair"]
    match: Bool[Tensor, " pair"]  # where these happen to be a true match


@dataclass(frozen=True, slots=True)
class OfflineScores:
    """How a batch's matching pairs stand against what was mined for them."""

    pair: Int[Tensor, "pair 2"]  # rows of the batch's own images and texts
    hard_text: Float[Tensor, " pair"]  # the pair's image with its hard text
    hard_image: Float[Tensor, " pair"]  # its hard image with the pair's text
    across: ApartScores | None = None  # hard image with hard text
    partners: ApartScores | None = None  # the hard text's image with the hard image's text


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


def as_embedding(given: "Embedding | Tensor") -> Embedding:
    """Plain vectors as an embedding: one per item, or one per part of an item, none padded."""
    if isinstance(given, Embedding):
        return given
    vectors = given.unsqueeze(1) if given.ndim == 2 else given
    return Embedding(vectors, torch.ones(vectors.shape[:2], dtype=torch.bool, device=given.device))


def concatenate(parts: "list[Embedding]") -> Embedding:
    """Join what items are ranked and labelled by; sets are padded to the longest among them."""
    longest = max(part.vectors.shape[1] for part in parts)
    vectors = [_padded(part.vectors, longest) for part in parts]
    masks = [_padded(part.mask, longest) for part in parts]
    labels = [part.labels for part in parts if part.labels is not None]
    all_labels = torch.cat(labels) if labels else None
    return Embedding(torch.cat(vectors), torch.cat(masks), labels=all_labels)


def _padded(tensor: Tensor, length: int) -> Tensor:
    missing = length - tensor.shape[1]
    if missing == 0:
        return tensor
    filler = tensor.new_zeros(tensor.shape[0], missing, *tensor.shape[2:])
    return torch.cat([tensor, filler], dim=1)
