"""Base of similarities that compare all parts: items of equal length are scored together.

Items with the same number of parts stand together, so a formula need not see padding, and
what belongs to one item (projections, Gram matrices) is computed once, not once per pair.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deixis.errors import DataError
from deixis.similarity.similarity import Pairs, Similarity
from deixis.types import Embedding, map_tensors

GROUP = 64  # items prepared together when chosen pairs meet: enough to share, of near length

Side = TypeVar("Side")  # a dataclass of tensors, one row per item


@dataclass(frozen=True)
class Alignment:
    """What the parts of one image and of one text found in each other."""

    to_words: Float[Tensor, "region word"] | None = None  # a region's attention adds up to one
    to_regions: Float[Tensor, "word region"] | None = None  # a word's does
    region_gates: Float[Tensor, " region"] | None = None  # how far a message was let in: 0 to 1
    word_gates: Float[Tensor, " word"] | None = None


class PartLevel(Similarity, Generic[Side]):
    """A similarity over all parts; a method writes what is computed per item and per pair.

    Memory is bounded by the block sizes, whatever the gallery; they never change a score.
    """

    images_per_block = 64
    texts_per_block = 128
    pairs_per_block = 256  # when chosen pairs meet, not whole blocks

    @abstractmethod
    def prepare_images(self, images: Embedding) -> Side:
        """What an image needs once, however many texts it meets."""

    @abstractmethod
    def prepare_texts(self, texts: Embedding) -> Side:
        """What a text needs once, however many images it meets."""

    @abstractmethod
    def meet(self, images: Side, texts: Side, *, grid: bool) -> Float[Tensor, "*pair"]:
        """Score items of one bucket each: all with all on a grid, else row with row."""

    def buckets(
        self, items: Embedding, size: int | None = None
    ) -> Iterator[tuple[Int[Tensor, " some"], Embedding]]:
        """Put items into buckets of equal length: where they stood, and what they are."""
        return equal_length_buckets(items, size)

    @abstractmethod
    def alignment(self, images: Side, texts: Side) -> Alignment:
        """What the parts of the only image and the only text attend to."""

    def align(self, images: Embedding, texts: Embedding) -> Alignment:
        """Show what one image and one text found in each other; parts in their own order."""
        ((_, image),) = self.buckets(images)
        ((_, text),) = self.buckets(texts)
        return self.alignment(self.prepare_images(image), self.prepare_texts(text))

    def score(self, pairs: Pairs) -> Float[Tensor, "*pair"]:
        """Score everything that meets, bucket by bucket."""
        if pairs.grid:
            return self._grid(pairs.images, pairs.texts)
        every = torch.arange(len(pairs.images), device=pairs.images.mask.device)
        return self.score_pairs(pairs.images, pairs.texts, every, every)

    def bytes_per_pair(self, images: Embedding, texts: Embedding) -> int:
        """Only the scores grow with the gallery; a few copies of them exist at once."""
        return 16 * images.vectors.element_size()

    def score_pairs(
        self,
        images: Embedding,
        texts: Embedding,
        image: Int[Tensor, " pair"],
        text: Int[Tensor, " pair"],
    ) -> Float[Tensor, " pair"]:
        """Score chosen pairs; items that stand in some are prepared, each once, and no others."""
        (images, image), (texts, text) = _asked(images, image), _asked(texts, text)
        scores, places = [images.vectors.new_empty(0)], [image.new_empty(0)]
        ready = [(here, self.prepare_images(some)) for here, some in self.buckets(images, GROUP)]
        for there, others in self.buckets(texts, GROUP):
            right = self.prepare_texts(others)
            column = _position(there, len(texts))[text]
            for here, left in ready:
                row = _position(here, len(images))[image]
                found = torch.nonzero((row >= 0) & (column >= 0))[:, 0]
                for pair in found.split(self.pairs_per_block) if len(found) else ():
                    sides = select_rows(left, row[pair]), select_rows(right, column[pair])
                    scores.append(self.meet(*sides, grid=False))
                    places.append(pair)
        return torch.cat(scores)[torch.cat(places).argsort()]

    def _grid(self, images: Embedding, texts: Embedding) -> Float[Tensor, "image text"]:
        rows, ready = [], []
        for here, some in self.buckets(images, self.images_per_block):
            rows.append(here)
            ready.append(self.prepare_images(some))
        columns, scores = [], []
        for there, others in self.buckets(texts, self.texts_per_block):
            right = self.prepare_texts(others)
            columns.append(there)
            scores.append(torch.cat([self.meet(left, right, grid=True) for left in ready]))
        table = torch.cat(scores, dim=1)
        return table[torch.cat(rows).argsort()][:, torch.cat(columns).argsort()]


def equal_length_buckets(
    items: Embedding, size: int | None = None
) -> Iterator[tuple[Int[Tensor, " some"], Embedding]]:
    """Items with equally many parts, at most ``size`` together; nothing in them is padding."""
    counts = _counts(items)
    places = items.vectors.flatten(0, 1)
    for count in counts.unique().tolist():
        found = torch.nonzero(counts == count)[:, 0]
        for here in found.split(size or len(found)):
            item, part = items.mask[here].nonzero(as_tuple=True)
            chosen = places.index_select(0, here[item] * items.mask.shape[1] + part)
            parts = chosen.view(len(here), count, -1)
            yield here, Embedding(parts, torch.ones_like(parts[..., 0], dtype=torch.bool))


def padded_buckets(
    items: Embedding, size: int | None = None
) -> Iterator[tuple[Int[Tensor, " some"], Embedding]]:
    """Items of about equal length, ``size`` together; zeros where one is shorter than another."""
    order = _counts(items).argsort(stable=True)
    for here in order.split(size or max(1, len(order))):
        mask = items.mask[here]
        places = mask.any(dim=0).nonzero()[:, 0]
        parts = items.vectors.index_select(0, here).index_select(1, places)
        mask = mask[:, places]
        if not mask.all():
            parts = parts.masked_fill(~mask.unsqueeze(2), 0.0)
        yield here, Embedding(parts, mask)


def _counts(items: Embedding) -> Int[Tensor, " item"]:
    counts = items.mask.sum(dim=1)
    if len(items) and not counts.min():
        raise DataError(f"item {int(counts.argmin())} has no parts, so nothing can attend to it")
    return counts


def _asked(items: Embedding, index: Int[Tensor, " pair"]) -> tuple[Embedding, Int[Tensor, " pair"]]:
    """The items an index names, and the same index among these."""
    kept, place = index.unique(return_inverse=True)
    return (items, index) if len(kept) == len(items) else (items.rows(kept), place)


def _position(items: Int[Tensor, " some"], length: int) -> Int[Tensor, " item"]:
    """Where each item stands among some of them, -1 for the others."""
    position = items.new_full((length,), -1)
    position[items] = torch.arange(len(items), device=items.device)
    return position


def select_rows(side: Side, index: Int[Tensor, " row"]) -> Side:
    """Some items of a prepared side; index_select copies whole rows, five times as fast as []."""
    return map_tensors(side, lambda tensor: tensor.index_select(0, index))
