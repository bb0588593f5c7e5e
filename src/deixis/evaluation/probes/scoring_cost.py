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

from deixis.data.corpus import Corpus
from deixis.runs.advance import Advance, silent
from deixis.runs.embed_dataset import encode
from deixis.runs.run import Run
from deixis.similarity.blocked.blocked_scoring import score_matrix
from deixis.similarity.blocked.topk import top_k
from deixis.similarity.similarity import Similarity
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

    @classmethod
    def of_run(
        cls, run: Run, split: str = "", advance: Advance = silent
    ) -> "tuple[Scoring, Corpus]":
        """A run's model over a split, embedded; by default the split it was evaluated on."""
        model, dataset = run.matcher.model, run.dataset(split, advance=advance)
        return cls(model.similarity, *encode(model, dataset)), dataset.corpus

    def run(self) -> None:
        """Score every image with every text and find the best of each side."""
        top_k(self.similarity, self.images, self.texts, DEPTH)

    def matrix(self) -> Float[ndarray, "image text"]:
        """Score every image with every text."""
        return score_matrix(self.similarity, self.images, self.texts).cpu().numpy()

    def of_text(self, text: int) -> "Scoring":
        """A single text with every image."""
        return Scoring(self.similarity, self.images, self.texts.rows(slice(text, text + 1)))

    def query_seconds(self) -> float:
        """CPU seconds of one text against every image, the median of some."""
        asked = range(min(QUERIES, len(self.texts)))
        return median_seconds([self.of_text(text).matrix for text in asked])

    def top_costs(self) -> dict[str, float]:
        """FLOPs and milliseconds of scoring everything and finding the best of each side."""
        found = measure_costs({"": self}, repeats=1)[""]
        return {"flops": float(found.flops), "top10_ms": 1000.0 * found.seconds}


@dataclass(frozen=True)
class Cost:
    """Operations of the matrix products, counted while they ran, and seconds, the median run."""

    flops: int
    seconds: float
    pairs: int

    def relative_to(self, other: "Cost") -> tuple[float, float]:
        """How many times another's operations and seconds these are."""
        return self.flops / other.flops, self.seconds / other.seconds


def run_costs(
    runs: Sequence[Run], split: str = "", repeats: int = 3, advance: Advance = silent
) -> dict[str, Cost]:
    """What scoring a split costs with each run, by the run's folder.

    Embedding is not counted: a gallery is embedded once and searched often.
    """
    scorings = {str(run): Scoring.of_run(run, split, advance)[0] for run in runs}
    return measure_costs(scorings, repeats)


def measure_costs(scorings: Mapping[str, Scoring], repeats: int = 3) -> dict[str, Cost]:
    """Measure several in turns, so that a slow minute of the machine affects all of them.

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
    """The median of the CPU seconds of repeated work."""
    return statistics.median(timed(work)[1] for work in works)
