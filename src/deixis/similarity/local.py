"""Similarities over kept parts: everything meets in buckets of equal length.

Items with the same number of parts stand together, so a formula never sees padding or a mask, and
what belongs to one item (projections, Gram matrices) is computed once, not once a pair.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deixis.errors import DataError
from deixis.similarity.base import Pairs, Similarity
from deixis.types import Embedding, map_tensors

Side = TypeVar("Side")  # a dataclass of tensors, one row an item


@dataclass(frozen=True)
class Alignment:
    """What the parts of one image and of one text found in each other."""

    to_words: Float[Tensor, "region word"] | None = None  # a region's attention adds up to one
    to_regions: Float[Tensor, "word region"] | None = None  # a word's does
    region_gates: Float[Tensor, " region"] | None = None  # how far a message was let in: 0 to 1
    word_gates: Float[Tensor, " word"] | None = None


class Local(Similarity, Generic[Side]):
    """A similarity that looks at every part; a paper writes what an item and what a pair needs.

    Memory is bounded by the block sizes, whatever the gallery; they never change a score.
    """

    images_a_block: ClassVar[int] = 64
    texts_a_block: ClassVar[int] = 128
    pairs_a_block: ClassVar[int] = 256  # when chosen pairs meet, not whole blocks

    @abstractmethod
    def prepare_images(self, regions: Float[Tensor, "image region dim"]) -> Side:
        """What an image needs once, however many texts it meets."""

    @abstractmethod
    def prepare_texts(self, words: Float[Tensor, "text word dim"]) -> Side:
        """What a text needs once, however many images it meets."""

    @abstractmethod
    def meet(self, images: Side, texts: Side, *, grid: bool) -> Float[Tensor, "*pair"]:
        """Score items of equal lengths: all with all on a grid, else row with row."""

    @abstractmethod
    def look(self, images: Side, texts: Side) -> Alignment:
        """What the parts of the only image and the only text attend to."""

    def align(self, images: Embedding, texts: Embedding) -> Alignment:
        """Show what one image and one text found in each other; parts in their own order."""
        ((_, regions),) = buckets(images)
        ((_, words),) = buckets(texts)
        return self.look(self.prepare_images(regions), self.prepare_texts(words))

    def score(self, pairs: Pairs) -> Float[Tensor, "*pair"]:
        """Score everything that meets, bucket by bucket."""
        if pairs.grid:
            return self._grid(pairs.images, pairs.texts)
        every = torch.arange(len(pairs.images), device=pairs.images.mask.device)
        return self.among(pairs.images, pairs.texts, every, every)

    def bytes_a_pair(self, images: Embedding, texts: Embedding) -> int:
        """Only the scores grow with the gallery; a few copies of them exist at once."""
        return 16 * images.vectors.element_size()

    def among(
        self,
        images: Embedding,
        texts: Embedding,
        image: Int[Tensor, " pair"],
        text: Int[Tensor, " pair"],
    ) -> Float[Tensor, " pair"]:
        """Score chosen pairs; an item that stands in many of them is prepared once."""
        scores, places = [images.vectors.new_empty(0)], [image.new_empty(0)]
        ready = [(here, self.prepare_images(regions)) for here, regions in buckets(images)]
        for there, words in buckets(texts):
            right = self.prepare_texts(words)
            column = _position(there, len(texts))[text]
            for here, left in ready:
                row = _position(here, len(images))[image]
                found = torch.nonzero((row >= 0) & (column >= 0))[:, 0]
                for pair in found.split(self.pairs_a_block) if len(found) else ():
                    some = rows_of(left, row[pair]), rows_of(right, column[pair])
                    scores.append(self.meet(*some, grid=False))
                    places.append(pair)
        return torch.cat(scores)[torch.cat(places).argsort()]

    def _grid(self, images: Embedding, texts: Embedding) -> Float[Tensor, "image text"]:
        rows, ready = [], []
        for here, regions in buckets(images, self.images_a_block):
            rows.append(here)
            ready.append(self.prepare_images(regions))
        columns, scores = [], []
        for there, words in buckets(texts, self.texts_a_block):
            right = self.prepare_texts(words)
            columns.append(there)
            scores.append(torch.cat([self.meet(left, right, grid=True) for left in ready]))
        table = torch.cat(scores, dim=1)
        return table[torch.cat(rows).argsort()][:, torch.cat(columns).argsort()]


def buckets(
    items: Embedding, size: int | None = None
) -> Iterator[tuple[Int[Tensor, " some"], Float[Tensor, "some part dim"]]]:
    """Items with equally many parts, at most ``size`` together: where they stand, their parts."""
    counts = items.mask.sum(dim=1)
    if len(items) and not counts.min():
        raise DataError(f"item {int(counts.argmin())} has no parts, so nothing can attend to it")
    for count in counts.unique().tolist():
        found = torch.nonzero(counts == count)[:, 0]
        for here in found.split(size or len(found)):
            parts = items.vectors[here][items.mask[here]]
            yield here, parts.view(len(here), count, -1)


def _position(items: Int[Tensor, " some"], length: int) -> Int[Tensor, " item"]:
    """Where each item stands among some of them, -1 for the others."""
    position = items.new_full((length,), -1)
    position[items] = torch.arange(len(items), device=items.device)
    return position


def rows_of(side: Side, index: Int[Tensor, " row"]) -> Side:
    """Some items of a prepared side."""
    return map_tensors(side, lambda tensor: tensor[index])
