"""Evaluating 5,000 images × 25,000 texts: beside the published loop and the ECCV package."""

import warnings
from collections.abc import Mapping
from contextlib import redirect_stderr
from io import StringIO

import numpy as np
from numpy import ndarray

from benchmarks.harness import Figure, agreement, extra_memory, interleaved, speed_up
from deixis.evaluation.measures import both_ways, rank_measures
from deixis.evaluation.positive_ranks import ranks
from deixis.evaluation.protocols.coco_judgements import CocoTest
from deixis.evaluation.qrels import Qrels
from deixis.evaluation.result import Result

IMAGES, TEXTS = 5_000, 25_000
KS = (1, 5, 10)
PAIRS = np.stack([np.arange(TEXTS) // 5, np.arange(TEXTS)], axis=1)
TINY = {
    "IMAGES": 20,
    "TEXTS": 100,
    "PAIRS": PAIRS[:100],
    "coco_figures": lambda scores: [],  # its judgements are of 5,000 images and no fewer
}


def figures() -> list[Figure]:
    scores = random_scores()
    return [*rank_figures(scores), *coco_figures(scores)]


def random_scores() -> ndarray:
    """Random scores with some signal; positives are odd, others even, so none ties across."""
    random = np.random.default_rng(0)
    scores = np.empty((IMAGES, TEXTS), dtype=np.float32)
    for image in range(IMAGES):
        scores[image] = 2 * random.integers(0, 2**20, TEXTS, dtype=np.int32)
    scores[PAIRS[:, 0], PAIRS[:, 1]] += 2**19 + 1
    return scores


def rank_figures(scores: ndarray) -> list[Figure]:
    ours, loop = interleaved(3, lambda: rank_both_ways(scores), lambda: argsort_loop(scores))
    return [
        speed_up("rank measures: speed over an argsort a query", ours, loop, 8),
        agreement(
            "rank measures: largest difference", ours.result.values(), loop.result.values(), 1e-9
        ),
        Figure(
            "rank measures: extra memory",
            extra_memory(lambda: rank_both_ways(scores)),
            300,
            "lower",
            "MB",
        ),
    ]


def rank_both_ways(scores: ndarray) -> dict[str, float]:
    i2t = ranks(scores, Qrels.of_pairs(PAIRS))
    t2i = ranks(scores.T, Qrels.of_pairs(PAIRS[:, ::-1]))
    return both_ways(rank_measures(i2t), rank_measures(t2i))


def argsort_loop(scores: ndarray) -> dict[str, float]:
    """The way of the field's scripts: sort the gallery for each query, then look positives up."""
    i2t = np.zeros(IMAGES, dtype=np.int64)
    for image, row in enumerate(scores):
        order = np.argsort(row)[::-1]
        i2t[image] = min(np.where(order == 5 * image + own)[0][0] for own in range(5))
    t2i = np.zeros(TEXTS, dtype=np.int64)
    for text, row in enumerate(scores.T):
        t2i[text] = np.where(np.argsort(row)[::-1] == text // 5)[0][0]
    return both_ways(rank_measures(i2t + 1), rank_measures(t2i + 1))


def coco_figures(scores: ndarray) -> list[Figure]:
    """The package is given its rankings ready made; ours starts from the scores."""
    test = CocoTest.load()
    rankings = ranked_ids(scores, test)
    ours, package = interleaved(
        1, lambda: test.judge(scores, ties="by index"), lambda: published(*rankings)
    )
    keys, theirs = flat(package.result)
    return [
        speed_up("COCO, CxC, ECCV Caption: speed over eccv_caption", ours, package, 10),
        agreement(
            "COCO, CxC, ECCV Caption: largest difference",
            in_their_words(ours.result, keys),
            theirs,
            1e-9,
        ),
    ]


def ranked_ids(scores: ndarray, test: CocoTest) -> tuple[dict[int, list[int]], ...]:
    def ranked(rows: ndarray, queries: ndarray, items: ndarray) -> dict[int, list[int]]:
        shared = np.array(items.tolist(), dtype=object)  # one object an id, not one a mention
        each = zip(queries.tolist(), rows, strict=True)
        return {query: shared[np.argsort(-row, kind="stable")].tolist() for query, row in each}

    return (
        ranked(scores, test.image_ids, test.text_ids),
        ranked(scores.T, test.text_ids, test.image_ids),
    )


def published(i2t: dict[int, list[int]], t2i: dict[int, list[int]]) -> Mapping[str, Mapping]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it asks for a progress bar that need not be there
        from eccv_caption import Metrics
    recalls = [f"{name}_recalls" for name in ("coco_1k", "coco_5k", "cxc")]
    wanted = [*recalls, "eccv_map_at_r", "eccv_rprecision", "eccv_r1"]
    with redirect_stderr(StringIO()):  # one of its bars shows even when switched off
        return Metrics().compute_all_metrics(i2t, t2i, target_metrics=wanted, Ks=KS, verbose=False)


def flat(measures: Mapping[str, Mapping]) -> tuple[list[tuple[str, str]], list[float]]:
    keys = [(name, way) for name, ways in measures.items() for way in ways]
    return keys, [float(measures[name][way]) for name, way in keys]


def in_their_words(results: Mapping[str, Result], keys: list[tuple[str, str]]) -> list[float]:
    """Our measures by the package's names, as fractions."""
    protocols = {"coco_1k": "COCO 1K", "coco_5k": "COCO 5K", "cxc": "CxC", "eccv": "ECCV Caption"}
    words = {"map_at_r": "map@r", "rprecision": "rprecision", **{f"r{k}": f"hit@{k}" for k in KS}}
    out = []
    for name, way in keys:
        protocol = next(prefix for prefix in protocols if name.startswith(prefix))
        measure = words[name.removeprefix(f"{protocol}_")]
        out.append(results[protocols[protocol]].measures[f"{way}_{measure}"] / 100)
    return out
