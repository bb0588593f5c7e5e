"""Whether one run is better than another, or luckier with its queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.errors import EvaluationError
from deixis.evaluation.measures import DEPTHS, hits
from deixis.evaluation.result import WAYS, RunRanks

DRAWS = 10_000
AT_ONCE = 2**22  # queries drawn at once


@dataclass(frozen=True)
class Difference:
    """A measure of two runs, the 95 % interval of first minus second, and a two-sided p."""

    measure: str
    first: float
    second: float
    low: float
    high: float
    p: float

    @property
    def difference(self) -> float:
        """First minus second."""
        return self.first - self.second


def compare(first: RunRanks, second: RunRanks, seed: int = 0) -> list[Difference]:
    """Paired bootstrap over queries of every R@k, both ways, of RSUM, and of graded measures.

    Queries are drawn with replacement within each direction, both runs answering the same draw.
    """
    return compare_seeds([first], [second], seed)


def compare_seeds(
    first: Sequence[RunRanks], second: Sequence[RunRanks], seed: int = 0
) -> list[Difference]:
    """The same for two methods trained several times: a query counts by its mean over the runs.

    The interval is of the queries, these runs being given; how far seeds differ is another matter.
    """
    for run in (*first, *second):
        _refuse_unequal(first[0], run)
    out = [
        _paired(f"{way}_hit@{k}", _shares(first, way, (k,)), _shares(second, way, (k,)), seed)
        for way in WAYS
        for k in DEPTHS
    ]
    out.append(_rsum(first, second, seed))
    everywhere = set.intersection(*(set(run.graded) for run in (*first, *second)))
    for name in sorted(everywhere):
        ours, theirs = (np.mean([run.graded[name] for run in runs], 0) for runs in (first, second))
        out.append(_paired(name, ours, theirs, seed))
    return out


def _refuse_unequal(first: RunRanks, second: RunRanks) -> None:
    for name in ("split_sha", "protocol", "tie_rule"):
        ours, theirs = getattr(first, name), getattr(second, name)
        if ours != theirs:
            found = f"{first.folder} has {ours!r}, {second.folder} has {theirs!r}"
            raise EvaluationError(f"runs differ in {name} and cannot be paired: {found}")


def _shares(
    runs: Sequence[RunRanks], way: str, depths: tuple[int, ...]
) -> Float[ndarray, " query"]:
    """Each query's part of the measure, in percent, on average over the runs."""
    found = [np.sum([hits(run.ranks[way], k) for k in depths], axis=0) for run in runs]
    return 100.0 * np.mean(found, axis=0)


def _rsum(first: Sequence[RunRanks], second: Sequence[RunRanks], seed: int) -> Difference:
    ours = [_shares(first, way, DEPTHS) for way in WAYS]
    theirs = [_shares(second, way, DEPTHS) for way in WAYS]
    random = np.random.default_rng(seed)
    draws = sum(_bootstrap(a - b, random) for a, b in zip(ours, theirs, strict=True))
    means = [float(sum(values.mean() for values in side)) for side in (ours, theirs)]
    return _judged("rsum", means[0], means[1], np.asarray(draws))


def _paired(
    measure: str, first: Float[ndarray, " query"], second: Float[ndarray, " query"], seed: int
) -> Difference:
    draws = _bootstrap(first - second, np.random.default_rng(seed))
    return _judged(measure, float(first.mean()), float(second.mean()), draws)


def _bootstrap(
    differences: Float[ndarray, " query"], random: np.random.Generator
) -> Float[ndarray, " draw"]:
    """Means of the differences over queries drawn with replacement.

    Differences of ranks take few values, so a draw is one multinomial over them: the same
    distribution as drawing query by query, without the queries. Grades differ query by query.
    """
    queries = len(differences)
    values, counts = np.unique(differences, return_counts=True)
    if len(values) <= queries // 4:
        return random.multinomial(queries, counts / queries, size=DRAWS) @ values / queries
    pieces = np.array_split(np.arange(DRAWS), -(-DRAWS * queries // AT_ONCE))
    drawn = [differences[random.integers(queries, size=(len(p), queries))].mean(1) for p in pieces]
    return np.concatenate(drawn)


def _judged(measure: str, first: float, second: float, draws: ndarray) -> Difference:
    low, high = np.quantile(draws, [0.025, 0.975])
    tail = min(np.count_nonzero(draws <= 0), np.count_nonzero(draws >= 0))
    p = min(1.0, 2.0 * (tail + 1) / (len(draws) + 1))
    return Difference(measure, first, second, float(low), float(high), p)
