"""Mine with any similarity: blocks of scores stream by, the best of both sides are kept."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.runs.hard_negatives.mining_state import MiningState
from deixis.similarity.blocked.blocked_scoring import block_shape
from deixis.similarity.blocked.topk_buffer import Nearest, TopKBuffer
from deixis.similarity.similarity import Similarity
from deixis.types import Embedding

BLOCK = 32 * 2**20  # bytes of scores at once: they stay in the cache


def cell_shape(similarity: Similarity, images: Embedding, texts: Embedding) -> tuple[int, int]:
    """How many images and how many texts are scored by one call."""
    pairs = BLOCK // similarity.bytes_per_pair(images, texts)
    return block_shape(len(images), len(texts), max(1, pairs))


class BlockPass:
    """Both sides from one pass over all pairs, strip of images by strip of images.

    Calls are of one shape, ``cell``, wherever a pass begins: a matrix product of another shape may
    differ in the last bit, so passes over parts of a split score as one pass over all of it does.
    """

    def __init__(
        self,
        similarity: Similarity,
        sides: tuple[Embedding, Embedding],
        lengths: tuple[int, int],
        matches: Int[ndarray, "pair 2"],
        cell: tuple[int, int],
    ) -> None:
        """Lists of some lengths for images and for texts; matches are never negatives."""
        self._similarity, self._matches, self._cell = similarity, matches, cell
        self._images, self._texts = sides
        images, texts = len(self._images), len(self._texts)
        self._texts_of = TopKBuffer(images, texts, lengths[0])
        self._images_of = TopKBuffer(texts, images, lengths[1])

    def run(
        self, state: MiningState, advance: Callable[[int, int], None]
    ) -> tuple[Int[ndarray, "image hard_text"], Int[ndarray, "text hard_image"]]:
        """The lists of all images and of all texts; reports how many images were seen."""
        for done in self._strips(self._resume(state)):
            advance(done, len(self._images))
            state.save(texts=self._texts_of.keys[:done], images=self._images_of.keys)
        return self._texts_of.nearest().items, self._images_of.nearest().items

    def both_sides(self) -> tuple[Nearest, Nearest]:
        """The best texts of each image and the best images of each text, with their scores."""
        for _ in self._strips(0):
            pass
        return self._texts_of.nearest(), self._images_of.nearest()

    @torch.no_grad()
    def _strips(self, start: int) -> Iterator[int]:
        """Score strip after strip; yields how many images were seen."""
        height, width = self._cell
        for top in range(start, len(self._images), height):
            here = slice(top, min(top + height, len(self._images)))
            strip = self._images.rows(here)
            for left in range(0, len(self._texts), width):
                there = slice(left, min(left + width, len(self._texts)))
                block = self._similarity(strip, self._texts.rows(there))
                scores = block.float().numpy(force=True)
                self._hide_matches(scores, here, there)
                self._texts_of.add(scores, here, there.start)
                self._images_of.add(scores.T, there, here.start)
            yield here.stop

    def _hide_matches(
        self, scores: Float[ndarray, "image text"], here: slice, there: slice
    ) -> None:
        """True matches lose to everything; there are always enough negatives before them."""
        image, text = self._matches.T
        inside = (image >= here.start) & (image < here.stop)
        inside &= (text >= there.start) & (text < there.stop)
        scores[image[inside] - here.start, text[inside] - there.start] = -np.inf

    def _resume(self, state: MiningState) -> int:
        """Resume from what an earlier process wrote; how many images it saw."""
        kept = state.load()
        if not kept:
            return 0
        done = len(kept["texts"])
        self._texts_of.keys[:done] = kept["texts"]
        self._images_of.keys[:] = kept["images"]
        return done
