"""The work of a mining pass, whole or in blocks that any process can do on its own."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy import ndarray

from deixis.runs.hard_negatives.block_pass import BlockPass, cell_shape
from deixis.runs.hard_negatives.mining_state import MiningState
from deixis.runs.hard_negatives.nearest_pass import NearestPass
from deixis.similarity.blocked.topk_buffer import Nearest
from deixis.similarity.similarity import Similarity
from deixis.types import Embedding, map_tensors

MOST = 8  # cells along a block's side, at most
ENOUGH = 64  # blocks that keep a cluster busy; more of them only cost more

Count = Callable[[int, int], None]  # how much is done, of how much
Lists = Iterable[ndarray]  # of whole numbers, strip after strip of anchors


@dataclass(frozen=True)
class Strip:
    """Some consecutive images with the pairs they match in, or some consecutive texts."""

    first: int
    items: Embedding
    matches: Int[ndarray, "pair 2"]


@dataclass(frozen=True)
class MiningWork:
    """Two sides of a split, which pairs match, and how long the lists shall be."""

    similarity: Similarity
    images: Embedding
    texts: Embedding
    lengths: tuple[int, int]  # negatives per image and per text
    matches: Int[ndarray, "pair 2"]
    cell: tuple[int, int]  # images and texts scored by one call

    @classmethod
    def of(
        cls,
        similarity: Similarity,
        sides: tuple[Embedding, Embedding],
        lengths: tuple[int, int],
        matches: Int[ndarray, "pair 2"],
    ) -> "MiningWork":
        """The work of a whole split; only what similarities read is kept of the embeddings."""
        images, texts = (Embedding(side.vectors, side.mask) for side in sides)
        cell = cell_shape(similarity, images, texts)
        return cls(similarity, images, texts, lengths, matches, cell)

    @property
    def single(self) -> bool:
        """Whether items are one vector each that the integer kernels can read."""
        return self.similarity.exact and _is_single(self.images) and _is_single(self.texts)

    def scoring(self) -> NearestPass | BlockPass:
        """Single vectors are searched by inner product; any other similarity scores blocks."""
        if self.single:
            images, texts = self.images.vectors[:, 0], self.texts.vectors[:, 0]
            vectors = images.contiguous(), texts.contiguous()
            return NearestPass(vectors, self.lengths, self.matches)
        sides = self.images, self.texts
        return BlockPass(self.similarity, sides, self.lengths, self.matches, self.cell)

    def strips(self) -> tuple[list[Strip], list[Strip]]:
        """Images and texts in strips; each of one side with each of the other is a block."""
        rows, columns = self._cuts()
        own = [self.matches[_inside(self.matches[:, 0], cut)] for cut in rows]
        none = self.matches[:0]
        return (
            [Strip(c.start, _copied(self.images, c), m) for c, m in zip(rows, own, strict=True)],
            [Strip(cut.start, _copied(self.texts, cut), none) for cut in columns],
        )

    def block(self, images: Strip, texts: Strip) -> "MiningWork":
        """The part of the work in which some images meet some texts, counted from zero."""
        span = slice(texts.first, texts.first + len(texts.items))
        own = images.matches[_inside(images.matches[:, 1], span)] - [images.first, texts.first]
        return replace(self, images=images.items, texts=texts.items, matches=own)

    def _cuts(self) -> tuple[list[slice], list[slice]]:
        """Where images and texts are cut into blocks: between cells, and not too finely.

        Every block must hold as many negatives of each of its items as a list is long.
        """
        options = [self._cut(side) for side in range(MOST, 0, -1)]
        possible = [cut for cut in options if self._holds(*cut)]
        many = [cut for cut in possible if len(cut[0]) * len(cut[1]) >= ENOUGH]
        every = [slice(0, len(self.images))], [slice(0, len(self.texts))]
        return many[0] if many else possible[-1] if possible else every

    def _cut(self, cells: int) -> tuple[list[slice], list[slice]]:
        sides = zip((self.images, self.texts), self.cell, strict=True)
        rows, columns = (even_slices(len(items), cells * size) for items, size in sides)
        return rows, columns

    def _holds(self, rows: Sequence[slice], columns: Sequence[slice]) -> bool:
        for side, (own, other) in enumerate(((rows, columns), (columns, rows))):
            sizes = [cut.stop - cut.start for cut in other]
            if min(sizes) < self.lengths[side]:
                return False
            starts = [cut.start for cut in other]
            block = np.searchsorted(starts, self.matches[:, 1 - side], side="right") - 1
            anchor = self.matches[:, side] * len(other) + block
            hidden = np.bincount(anchor, minlength=own[-1].stop * len(other))
            left = np.array(sizes) - hidden.reshape(-1, len(other)).max(axis=0)
            if left.min() < self.lengths[side]:
                return False
        return True


def even_slices(items: int, size: int) -> list[slice]:
    """Cut items into runs of a size; what is left joins the last run."""
    edges = [*range(0, max(items - size, 0) + 1, size)] or [0]
    return [slice(*edge) for edge in pairwise([*edges, items])]


def mine_here(work: MiningWork, state: MiningState, advance: Count) -> tuple[Lists, Lists]:
    """Rank everything in this process, going on from an earlier state."""
    texts, images = work.scoring().run(state, advance)
    return [texts], [images]


@dataclass(frozen=True)
class BlockMiner:
    """Mines one block wherever it is sent, without the split it is a part of."""

    work: MiningWork  # of no items
    threads: int  # products are summed alike only with as many

    @classmethod
    def of(cls, work: MiningWork) -> "BlockMiner":
        """What all blocks of a work have in common."""
        images, texts = (_copied(side, slice(0, 0)) for side in (work.images, work.texts))
        empty = replace(work, images=images, texts=texts, matches=work.matches[:0])
        return cls(empty, torch.get_num_threads())

    def __call__(self, images: Strip, texts: Strip) -> tuple[Nearest, Nearest]:
        """The best texts of these images among these texts, and the other way round."""
        torch.set_num_threads(self.threads)
        of_images, of_texts = self.work.block(images, texts).scoring().both_sides()
        return (
            Nearest(of_images.items + texts.first, of_images.scores),
            Nearest(of_texts.items + images.first, of_texts.scores),
        )


def _inside(places: Int[ndarray, " pair"], span: slice) -> Bool[ndarray, " pair"]:
    return (places >= span.start) & (places < span.stop)


def _copied(items: Embedding, span: slice) -> Embedding:
    """Some items on their own: a view would take all the others along when it is sent."""
    return map_tensors(items.rows(span), lambda tensor: tensor.cpu().clone())


def _is_single(items: Embedding) -> bool:
    vectors = items.vectors
    return vectors.shape[1] == 1 and vectors.device.type == "cpu" and vectors.dtype == torch.float32
