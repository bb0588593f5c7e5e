"""Mine single vectors: the nearest texts of every image, then the nearest images of every text."""

from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Float32, Int
from numpy import ndarray
from torch import Tensor

from deixis.runs.hard_negatives.mining_state import MiningState
from deixis.similarity.blocked.nearest_rows import NearestRows
from deixis.similarity.blocked.topk_buffer import Nearest

STRIP = 128  # queries answered together: they stay in cache while rows stream by
NAMES = ("texts", "images")  # what the lists of images, and those of texts, are made of


class NearestPass:
    """Both sides by inner product, strip by strip of queries, without the full matrix."""

    def __init__(
        self,
        vectors: tuple[Float32[Tensor, "image dim"], Float32[Tensor, "text dim"]],
        lengths: tuple[int, int],
        matches: Int[ndarray, "pair 2"],
    ) -> None:
        """Lists of some lengths for images and for texts; matches are never negatives."""
        self._vectors, self._lengths, self._matches = vectors, lengths, matches

    def run(
        self, state: MiningState, advance: Callable[[int, int], None]
    ) -> tuple[Int[ndarray, "image hard_text"], Int[ndarray, "text hard_image"]]:
        """The lists of all images and of all texts; reports how many there are so far."""
        sizes = zip(self._vectors, self._lengths, strict=True)
        lists = [np.empty((len(queries), k), dtype=np.int64) for queries, k in sizes]
        done = [0, 0]
        for side, kept in enumerate(map(state.load().get, NAMES)):
            if kept is not None:
                lists[side][: len(kept)] = kept
                done[side] = len(kept)
        for side in range(2):
            for here, nearest in self._strips(side, done[side]):
                lists[side][here] = nearest.items
                done[side] = here.stop
                advance(sum(done), sum(map(len, lists)))
                so_far = zip(NAMES, lists, done, strict=True)
                state.save(**{name: mined[:end] for name, mined, end in so_far})
        return lists[0], lists[1]

    def both_sides(self) -> tuple[Nearest, Nearest]:
        """The nearest texts of each image and the nearest images of each text, with scores."""
        return self._whole(0), self._whole(1)

    def _whole(self, side: int) -> Nearest:
        found = [nearest for _, nearest in self._strips(side, 0)]
        return Nearest(
            np.concatenate([nearest.items for nearest in found]),
            np.concatenate([nearest.scores for nearest in found]),
        )

    def _strips(self, side: int, start: int) -> Iterator[tuple[slice, Nearest]]:
        """Answer strip after strip of one side's queries; yields which they are and their lists."""
        queries = self._vectors[side]
        if start >= len(queries):
            return
        engine = NearestRows(self._vectors[1 - side], self._lengths[side])
        for top in range(start, len(queries), STRIP):
            here = slice(top, min(top + STRIP, len(queries)))
            yield here, engine.of(queries[here], self._hidden(side, here))

    def _hidden(self, side: int, here: slice) -> Int[ndarray, "match 2"]:
        own, other = self._matches[:, side], self._matches[:, 1 - side]
        inside = (own >= here.start) & (own < here.stop)
        return np.stack([own[inside] - here.start, other[inside]], axis=1)
