"""What re-ranking buys and costs, from the fast model alone to the slow one alone."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.evaluation.cost import Scoring
from deixis.evaluation.rerank import Reranked, merged, rerank, scorer, shortlist
from deixis.similarity.blocks import score_matrix

T = TypeVar("T")
QUERIES = 5  # texts asked alone; the median of their times is a query's


@dataclass(frozen=True)
class Swept:
    """One way to rank a split: its measures and its price in CPU seconds, embedding not counted."""

    label: str
    measures: dict[str, float]
    pairs: int  # that the slow model scored
    query: float  # one text against every image
    whole: float  # every image against every text


def sweep(fast: Scoring, slow: Scoring, shares: Sequence[float], corpus: Corpus) -> list[Swept]:
    """Rank by the fast model, by the slow one, and by both for every share re-ranked."""
    lines = [_alone("fast model alone", fast, corpus), _alone("slow model alone", slow, corpus)]
    for share in shares:
        found, seconds = _timed(partial(_rank, fast, slow, share))
        query = _median([partial(_ask, fast, slow, share, text) for text in range(QUERIES)])
        measures = found.measures(corpus)
        lines.append(Swept(f"re-rank {100 * share:g} %", measures, found.pairs, query, seconds))
    return lines


def _alone(label: str, model: Scoring, corpus: Corpus) -> Swept:
    scores, seconds = _timed(partial(_matrix, model))
    query = _median([partial(_matrix, _of_text(model, text)) for text in range(QUERIES)])
    found = Reranked(scores, scores.T, scores.size if label.startswith("slow") else 0)
    return Swept(label, found.measures(corpus), found.pairs, query, seconds)


def _rank(fast: Scoring, slow: Scoring, share: float) -> Reranked:
    return rerank(_matrix(fast), scorer(slow.similarity, slow.images, slow.texts), share)


def _ask(fast: Scoring, slow: Scoring, share: float, text: int) -> Float[ndarray, "1 image"]:
    """One text asks: the fast model ranks every image, the slow one the best of them."""
    scores = _matrix(_of_text(fast, text)).T
    chosen = shortlist(scores, share)
    images = np.flatnonzero(chosen[0])
    asked = _of_text(slow, text)
    again = scorer(slow.similarity, slow.images.rows(torch.from_numpy(images)), asked.texts)
    fine = np.full(scores.shape, -np.inf)
    fine[0, images] = again(np.arange(len(images)), np.zeros_like(images))
    return merged(scores, fine, chosen)


def _of_text(model: Scoring, text: int) -> Scoring:
    return Scoring(model.similarity, model.images, model.texts.rows(slice(text, text + 1)))


def _matrix(model: Scoring) -> Float[ndarray, "image text"]:
    return score_matrix(model.similarity, model.images, model.texts).cpu().numpy()


def _median(works: Sequence[Callable[[], object]]) -> float:
    return statistics.median(_timed(work)[1] for work in works)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start
