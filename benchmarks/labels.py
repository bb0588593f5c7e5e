"""NDCG@500 over 5,000 × 25,000 with 80 labels: ours beside scikit-learn, query by query."""

import numpy as np
from numpy import ndarray

from benchmarks.harness import Figure, agreement, interleaved
from deixis.evaluation.graded_measures import ndcg, shared_labels

QUERIES, ITEMS, LABELS, DEPTH = 5_000, 25_000, 80, 500
SHARE = 250  # queries that scikit-learn is given; it takes them one by one, so time is linear
TINY = {"QUERIES": 20, "ITEMS": 600, "SHARE": 5}


def figures() -> list[Figure]:
    random = np.random.default_rng(0)
    queries, items = (random.random((n, LABELS)) < 0.04 for n in (QUERIES, ITEMS))
    grades = shared_labels(queries, items)
    ladder = np.arange(ITEMS, dtype=np.float32)  # no two alike: scikit-learn orders ties by chance
    scores = random.permuted(np.tile(ladder, (QUERIES, 1)), axis=1)
    ours, theirs = interleaved(
        3, lambda: ndcg(scores, grades, DEPTH), lambda: loop(scores[:SHARE], grades[:SHARE])
    )
    whole = theirs.seconds * QUERIES / SHARE
    detail = f"{ours.seconds:.2f} s beside {whole:.1f} s, from {SHARE} of {QUERIES} queries"
    name = "NDCG@500: speed over scikit-learn, query by query"
    return [
        Figure(name, whole / ours.seconds, 20, detail=detail),
        agreement("NDCG@500: largest difference", ours.result[:SHARE], theirs.result, 1e-9),
    ]


def loop(scores: ndarray, grades: ndarray) -> list[float]:
    from sklearn.metrics import ndcg_score

    each = zip(scores, grades, strict=True)
    return [ndcg_score([own], [row], k=DEPTH, ignore_ties=True) for row, own in each]
