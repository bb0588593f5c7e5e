"""What re-ranking gains and costs, from the fast model alone to the slow one alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from deixis.data.corpus import Corpus, split_sha
from deixis.errors import EvaluationError
from deixis.evaluation.probes.scoring_cost import QUERIES, Scoring, median_seconds, timed
from deixis.evaluation.reranking.two_models import Reranked, merged, rerank, shortlist
from deixis.runs.advance import Advance, silent
from deixis.runs.run import Run
from deixis.similarity.blocked.pair_scorer import pair_scorer

DEPTHS = (0.02, 0.05, 0.1, 0.2)  # shares of a gallery that are re-ranked when none are named


@dataclass(frozen=True)
class Swept:
    """One way to rank a split: its measures and its price in CPU seconds, embedding not counted."""

    label: str
    measures: dict[str, float]
    complexity: str  # of scoring everything; empty where that depends on the depth
    pairs: int  # that the slow model scored
    query: float  # one text against every image
    whole: float  # every image against every text

    @property
    def costs(self) -> dict[str, float]:
        """The price as tables show it."""
        return {"query_ms": 1000.0 * self.query, "whole_s": self.whole}


def sweep_runs(
    fast: Run,
    slow: Run,
    depths: Sequence[float] = DEPTHS,
    split: str = "",
    advance: Advance = silent,
) -> list[Swept]:
    """Sweep over depths with two runs on one split, by default the one they were evaluated on."""
    (first, corpus), (second, other) = (Scoring.of_run(run, split, advance) for run in (fast, slow))
    if split_sha(corpus) != split_sha(other):
        raise EvaluationError(f"{fast} and {slow} read different splits; name one with --split")
    return sweep(first, second, depths or DEPTHS, corpus)


def sweep(fast: Scoring, slow: Scoring, depths: Sequence[float], corpus: Corpus) -> list[Swept]:
    """Rank by the fast model, by the slow one, and by both for every depth re-ranked."""
    lines = [_alone("fast model alone", fast, corpus), _alone("slow model alone", slow, corpus)]
    return lines + [together(fast, slow, depth, corpus) for depth in depths]


def together(fast: Scoring, slow: Scoring, depth: float, corpus: Corpus) -> Swept:
    """Rank by the fast model, and the best of every gallery, a share or a number, by the slow."""
    found, seconds = timed(partial(_rank, fast, slow, depth))
    asked = range(min(QUERIES, len(fast.texts)))
    query = median_seconds([partial(_ask, fast, slow, depth, text) for text in asked])
    label = f"re-rank {100 * depth:g} %" if depth <= 1 else f"re-rank {depth:g}"
    return Swept(label, found.measures(corpus), "", found.pairs, query, seconds)


def _alone(label: str, model: Scoring, corpus: Corpus) -> Swept:
    scores, seconds = timed(model.matrix)
    found = Reranked(scores, scores.T, scores.size if label.startswith("slow") else 0)
    complexity = model.similarity.complexity
    price = found.pairs, model.query_seconds(), seconds
    return Swept(label, found.measures(corpus), complexity, *price)


def _rank(fast: Scoring, slow: Scoring, depth: float) -> Reranked:
    return rerank(fast.matrix(), pair_scorer(slow.similarity, slow.images, slow.texts), depth)


def _ask(fast: Scoring, slow: Scoring, depth: float, text: int) -> Float[ndarray, "1 image"]:
    """One text asks: the fast model ranks every image, the slow one the best of them."""
    scores = fast.of_text(text).matrix().T
    chosen = shortlist(scores, depth)
    images = np.flatnonzero(chosen[0])
    asked = slow.of_text(text)
    again = pair_scorer(slow.similarity, slow.images.rows(torch.from_numpy(images)), asked.texts)
    fine = np.full(scores.shape, -np.inf)
    fine[0, images] = again(np.arange(len(images)), np.zeros_like(images))
    return merged(scores, fine, chosen)
