"""Cross rank: the worse rank of a matching pair over both directions."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.data.corpus import split_sha
from deixis.errors import EvaluationError
from deixis.evaluation.judge import ensemble, scores_of
from deixis.evaluation.positive_ranks import places
from deixis.evaluation.qrels import Qrels
from deixis.runs.advance import Advance, silent
from deixis.runs.run import Run, seeds_of

EDGES = (1, 5, 10, 20, 50, 100, 200)  # a bin holds ranks up to its edge; the last holds the rest


def cross_rank_counts(
    runs: Sequence[Path | str], split: str = "", advance: Advance = silent, *, together: bool
) -> dict[str, dict[str, int]]:
    """Matching pairs of each run by cross-retrieval rank; of several seeds, their mean.

    A run named without the number of its seed stands for all its seeds. ``together`` averages the
    scores of all runs and seeds instead, and counts once.
    """
    if together:
        every = [seed for run in runs for seed in seeds_of(run)]
        return {" + ".join(seed.name for seed in every): _histogram_of(every, split, advance)}
    counts = {}
    for run in runs:
        of_seeds = [_histogram_of([seed], split, advance) for seed in seeds_of(run)]
        counts[Path(run).name] = {
            name: round(sum(found[name] for found in of_seeds) / len(of_seeds))
            for name in of_seeds[0]
        }
    return counts


def _histogram_of(runs: Sequence[Run], split: str, advance: Advance) -> dict[str, int]:
    """Of the average of their scores, each over its own features of one split."""
    seen = [run.dataset(split, advance=advance) for run in runs]
    if len({split_sha(dataset.corpus) for dataset in seen}) > 1:
        names = ", ".join(run.name for run in runs)
        raise EvaluationError(f"{names} rank different splits; together they need the same one")
    scores = [scores_of(run.matcher.model, d) for run, d in zip(runs, seen, strict=True)]
    return histogram(cross_ranks(ensemble(scores), seen[0].corpus.pairs))


def cross_ranks(
    scores: Float[ndarray, "image text"], pairs: Int[ndarray, "pair 2"]
) -> Int[ndarray, " pair"]:
    """The worse of a matching pair's two ranks, 1 only where it wins both ways.

    *Formula*: ``max(n·r_i - n + 1, r_t)``, ``n`` the texts of the image, ``r_i`` its rank among
    the images that do not match the text, ``r_t`` the text's among the texts that do not match
    the image. With five texts per image, ``max(5·r_i - 4, r_t)``.
    *Paper*: AOQ (Chen et al. 2020); we count ties against the system, and siblings never.
    """
    texts = np.bincount(pairs[:, 0], minlength=len(scores))[pairs[:, 0]]
    among_images = _alone(scores.T, pairs[:, ::-1])
    among_texts = _alone(scores, pairs)
    return np.maximum(texts * among_images - texts + 1, among_texts)


def histogram(cross: Int[ndarray, " pair"]) -> dict[str, int]:
    """How many pairs have a cross rank of 1, 2–5, 6–10 … and above 200."""
    counts = np.bincount(np.searchsorted(EDGES, cross), minlength=len(EDGES) + 1)
    lows = (1, *(edge + 1 for edge in EDGES[:-1]))
    names = [str(h) if low == h else f"{low}–{h}" for low, h in zip(lows, EDGES, strict=True)]
    return dict(zip([*names, f">{EDGES[-1]}"], counts.tolist(), strict=True))


def _alone(
    scores: Float[ndarray, "query item"], pairs: Int[ndarray, "pair 2"]
) -> Int[ndarray, " pair"]:
    """The rank of each pair's item when its query's other positives are away, in pair order."""
    placed = places(scores, Qrels.of_pairs(pairs))
    width, qrels = scores.shape[1], placed.qrels
    keys = qrels.queries[qrels.owners] * width + placed.items
    order = np.argsort(keys)
    ranked = (placed.places - qrels.ordinals + 1)[order]
    return ranked[np.searchsorted(keys[order], pairs[:, 0] * width + pairs[:, 1])]
