"""What scoring a gallery costs once everything is embedded."""

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch.utils.flop_counter import FlopCounterMode

from deixis.similarity.base import Similarity
from deixis.similarity.nearest import top_k
from deixis.types import Embedding

DEPTH = 10  # best items found of each query


@dataclass(frozen=True)
class Scoring:
    """A similarity and the embeddings it meets."""

    similarity: Similarity
    images: Embedding
    texts: Embedding

    def run(self) -> None:
        """Score every image with every text and find the best of each side."""
        top_k(self.similarity, self.images, self.texts, DEPTH)


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
