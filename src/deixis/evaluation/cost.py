"""What scoring a gallery costs once everything is embedded."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Float
from numpy import ndarray
from torch.utils.flop_counter import FlopCounterMode

from deixis.similarity.base import Similarity
from deixis.similarity.blocks import score_matrix
from deixis.similarity.nearest import top_k
from deixis.types import Embedding

DEPTH = 10  # best items found of each query
QUERIES = 5  # texts asked alone; the median of their times is a query's

T = TypeVar("T")


@dataclass(frozen=True)
class Scoring:
    """A similarity and the embeddings it meets."""

    similarity: Similarity
    images: Embedding
    texts: Embedding

    def run(self) -> None:
        """Score every image with every text and find the best of each side."""
        top_k(self.similarity, self.images, self.texts, DEPTH)

    def matrix(self) -> Float[ndarray, "image text"]:
        """Score every image with every text."""
        return score_matrix(self.similarity, self.images, self.texts).cpu().numpy()

    def of_text(self, text: int) -> "Scoring":
        """One text alone, with every image."""
        return Scoring(self.similarity, self.images, self.texts.rows(slice(text, text + 1)))

    def query_seconds(self) -> float:
        """CPU seconds of one text against every image, the median of some."""
        asked = range(min(QUERIES, len(self.texts)))
        return median_seconds([self.of_text(text).matrix for text in asked])


@dataclass(frozen=True)
class Cost:
    """Operations of the matrix products, counted while they ran, and seconds, the median run."""

    flops: int
    seconds: float
    pairs: int


def measure_costs(scorings: Mapping[str, Scoring], repeats: int = 3) -> dict[str, Cost]:
    """Measure several in turns, so that a slow minute of the machine hits all of them.

    Only matrix products are counted, as papers count; seconds hold everything.
    """
    flops, seconds = {}, {name: list[float]() for name in scorings}
    with torch.no_grad():
        for name, scoring in scorings.items():
            with FlopCounterMode(display=False) as counter:
                scoring.run()
            flops[name] = counter.get_total_flops()
        for _ in range(repeats):
            for name, scoring in scorings.items():
                start = time.perf_counter()
                scoring.run()
                seconds[name].append(time.perf_counter() - start)
    return {
        name: Cost(
            flops[name],
            statistics.median(seconds[name]),
            len(scoring.images) * len(scoring.texts),
        )
        for name, scoring in scorings.items()
    }


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What some work gives, and the CPU seconds it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def median_seconds(works: Sequence[Callable[[], object]]) -> float:
    """The median of the CPU seconds of some works alike."""
    return statistics.median(timed(work)[1] for work in works)
