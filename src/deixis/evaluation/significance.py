"""Whether one run is better than another: paired bootstrap over the queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.errors import EvaluationError
from deixis.evaluation.measures import DEPTHS, hits
from deixis.evaluation.result import WAYS, RunRanks

DRAWS = 10_000
AT_ONCE = 2**22  # images drawn at once


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
    """Paired bootstrap over images of every R@k, both ways, of RSUM, and of graded measures.

    Images are drawn with replacement, each with the texts written for it: texts of one image
    succeed and fail together, so drawing them one by one would give intervals that are too narrow.
    Both runs answer the same draw, and every measure is taken of it.
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
    ours, theirs = _each_query(first), _each_query(second)
    names = [name for name in ours if name in theirs]
    gaps = {name: ours[name] - theirs[name] for name in names}
    draws = _bootstrap(gaps, _images_of(first[0]), np.random.default_rng(seed))
    hits_of = [f"{way}_hit@{k}" for way in WAYS for k in DEPTHS]
    draws["rsum"] = np.sum([draws[name] for name in hits_of], axis=0)
    for side in (ours, theirs):
        side["rsum"] = np.sum([side[name].mean() for name in hits_of], keepdims=True)
    order = [*hits_of, "rsum", *sorted(set(names) - set(hits_of))]
    return [
        _judged(name, float(ours[name].mean()), float(theirs[name].mean()), draws[name])
        for name in order
    ]


def _refuse_unequal(first: RunRanks, second: RunRanks) -> None:
    for name in ("split_sha", "protocol", "tie_rule"):
        ours, theirs = getattr(first, name), getattr(second, name)
        if ours != theirs:
            found = f"{first.run} has {ours!r}, {second.run} has {theirs!r}"
            raise EvaluationError(f"runs differ in {name} and cannot be paired: {found}")


def _each_query(runs: Sequence[RunRanks]) -> dict[str, Float[ndarray, " query"]]:
    """Each query's part of every measure, in percent, on average over the runs."""
    each = [
        {f"{w}_hit@{k}": 100.0 * hits(run.ranks[w], k) for w in WAYS for k in DEPTHS} | run.graded
        for run in runs
    ]
    shared = [name for name in each[0] if all(name in run for run in each)]
    return {name: np.mean([run[name] for run in each], axis=0) for name in shared}


def _images_of(run: RunRanks) -> dict[str, Int[ndarray, " query"]]:
    """The image that is drawn for a query to count, by direction."""
    if run.owners is None:
        raise EvaluationError(
            f"{run.run} does not say which image each text belongs to; train it again"
        )
    return {"i2t": np.arange(len(run.ranks["i2t"])), "t2i": run.owners}


def _bootstrap(
    gaps: dict[str, Float[ndarray, " query"]],
    images_of: dict[str, Int[ndarray, " query"]],
    random: np.random.Generator,
) -> dict[str, Float[ndarray, " draw"]]:
    """Means of the differences over images drawn with replacement, queries following theirs.

    How often each image was drawn, times what its queries add up to, is one matrix product.
    """
    images = len(images_of["i2t"])
    sums = [np.bincount(images_of[name[:3]], gap, images) for name, gap in gaps.items()]
    asked = [np.bincount(images_of[name[:3]], minlength=images) for name in gaps]
    columns = np.stack([*sums, *asked], axis=1)
    pieces = []
    for piece in np.array_split(np.arange(DRAWS), -(-DRAWS * images // AT_ONCE)):
        drawn = random.integers(images, size=(len(piece), images))
        drawn += images * np.arange(len(piece))[:, None]
        times = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
        totals = times @ columns
        pieces.append(totals[:, : len(gaps)] / totals[:, len(gaps) :])
    return dict(zip(gaps, np.concatenate(pieces).T, strict=True))


def _judged(measure: str, first: float, second: float, draws: ndarray) -> Difference:
    low, high = np.quantile(draws, [0.025, 0.975])
    tail = min(np.count_nonzero(draws <= 0), np.count_nonzero(draws >= 0))
    p = min(1.0, 2.0 * (tail + 1) / (len(draws) + 1))
    return Difference(measure, first, second, float(low), float(high), p)
