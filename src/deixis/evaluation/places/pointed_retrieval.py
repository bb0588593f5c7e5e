"""Text to image with places: the rank of every query under every way to point."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, Int
from numpy import ndarray

from deixis.evaluation.places.pointed_texts import PointedTexts
from deixis.similarity.places.place_score import PlaceScore, log_mean_exp, place_maps

QUERIES = 16  # scored at once

Ranks = dict[str, Int[ndarray, " query"]]  # by the way to point


@dataclass(frozen=True)
class PointedRetrieval:
    """Pictures and queries as vectors, and their scores by text only."""

    asked: PointedTexts
    text_scores: Float[ndarray, "image text"]  # of all texts of the split
    cells: Float32[ndarray, "image cell dim"]
    phrases: Float32[ndarray, "phrase dim"]
    score: PlaceScore

    def text_ranks(self) -> Int[ndarray, " query"]:
        """Ranks by the text only."""
        return _rank(self.text_scores[:, self.asked.texts].T, self.asked.images)

    def ranks(
        self, ways: Mapping[str, Float32[ndarray, "phrase cell"]], first: bool = False
    ) -> Ranks:
        """Ranks with every phrase pointed at, or only the first of each text."""
        found: dict[str, list[Int[ndarray, " query"]]] = {name: [] for name in ways}
        for start in range(0, len(self.asked), QUERIES):
            some = slice(start, min(start + QUERIES, len(self.asked)))
            rows = self._rows(some, first)
            maps = place_maps(self.cells, self.phrases[rows])
            overall = log_mean_exp(maps)
            owners = self.asked.owners[rows] - start
            adds = np.zeros((len(rows), some.stop - start), np.float32)
            adds[np.arange(len(rows)), owners] = 1.0
            text = self.text_scores[:, self.asked.texts[some]] / self.score.temperature
            for name in ways:
                inside = self.score.inside(maps, ways[name][rows])
                total = text + self.score.of(inside, overall) @ adds
                found[name].append(_rank(total.T, self.asked.images[some]))
        return {name: np.concatenate(parts) for name, parts in found.items()}

    def _rows(self, some: slice, first: bool) -> Int[ndarray, " phrase"]:
        if first:
            return self.asked.offsets[some]
        return np.arange(self.asked.offsets[some.start], self.asked.offsets[some.stop])


def _rank(
    scores: Float[ndarray, "query image"], images: Int[ndarray, " query"]
) -> Int[ndarray, " query"]:
    """The place of each query's own image; images that tie with it stand before it."""
    own = scores[np.arange(len(images)), images]
    return (scores >= own[:, None]).sum(axis=1)
