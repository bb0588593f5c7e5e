"""Evaluation by labels: an item is relevant to a query as far as they share labels."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from deixis.data.corpus import Corpus, split_sha
from deixis.data.dataset import Dataset
from deixis.errors import EvaluationError
from deixis.evaluation.graded_measures import micro_f1, ndcg, shared_labels
from deixis.evaluation.protocols.five_folds import consecutive
from deixis.evaluation.result import WAYS, Result
from deixis.methods.model import Model
from deixis.runs.embed_dataset import encode
from deixis.similarity.blocked.blocked_scoring import score_matrix

DEPTH = 500  # of NDCG, as the field's label-wise papers have it
HEADLINE = "ndcg"

Scores = Float[ndarray, "image text"]


def evaluate_labels(model: Model, dataset: Dataset, k: int = DEPTH) -> Result:
    """Rank a whole split both ways and predict its labels; a label is predicted above one half."""
    images, texts = encode(model, dataset)
    scores = score_matrix(model.similarity, images, texts).cpu().numpy()
    result = judge_labels(scores, dataset.corpus, k)
    of_images, of_texts = labels_of(dataset.corpus)
    predicted = {"image": (images.labels, of_images), "text": (texts.labels, of_texts)}
    for side, (logits, truth) in predicted.items():
        if isinstance(logits, torch.Tensor):
            result.measures[f"{side}_f1"] = 100 * micro_f1(truth, (logits > 0).numpy())
    return result


def evaluate_label_folds(model: Model, dataset: Dataset, folds: int = 5) -> Result:
    """Evaluate consecutive folds of images with their texts, each on its own, and average.

    With five of COCO's 5,000 test images this is what papers call COCO1K.
    """
    of_image = consecutive(len(dataset.images), folds)
    parts = [evaluate_labels(model, dataset.keep(of_image == fold)) for fold in range(folds)]
    return _mean_of(parts, dataset.corpus)


def judge_label_folds(scores: Scores, corpus: Corpus, folds: int = 5) -> Result:
    """NDCG and mAP of a score matrix in consecutive folds, each on its own, averaged."""
    of_image = consecutive(len(corpus.files), folds)
    parts = []
    for fold in range(folds):
        images = of_image == fold
        texts = images[corpus.owners]
        parts.append(judge_labels(scores[np.ix_(images, texts)], corpus.keep(images=images)))
    return _mean_of(parts, corpus)


def _mean_of(parts: Sequence[Result], corpus: Corpus) -> Result:
    """The mean measures of folds, and what each of their queries scored."""
    return Result(
        measures={
            key: float(np.mean([part.measures[key] for part in parts])) for key in parts[0].measures
        },
        protocol=f"labels, NDCG@{DEPTH}, mean of {len(parts)} folds",
        gallery=parts[0].gallery,
        split_sha=split_sha(corpus),
        ranks={way: np.concatenate([part.ranks[way] for part in parts]) for way in WAYS},
        graded={
            key: np.concatenate([part.graded[key] for part in parts]) for key in parts[0].graded
        },
    )


def judge_labels(scores: Scores, corpus: Corpus, k: int = DEPTH) -> Result:
    """NDCG@k and mAP of a score matrix, in percent; a query without labels scores 0."""
    images, texts = labels_of(corpus)
    if scores.shape != (len(images), len(texts)):
        found = (len(images), len(texts))
        raise EvaluationError(f"scores are {scores.shape}, the split is {found} (image, text)")
    grades = shared_labels(images, texts)
    measures, ranks, graded = {}, {}, {}
    for way, way_scores, way_grades in (
        ("i2t", scores, grades),
        ("t2i", np.ascontiguousarray(scores.T), np.ascontiguousarray(grades.T)),
    ):
        graded[f"{way}_ndcg"] = 100 * ndcg(way_scores, way_grades, k)
        measures[f"{way}_ndcg"] = float(graded[f"{way}_ndcg"].mean())
        measures[f"{way}_map"] = float(100 * average_precision(way_scores, way_grades > 0).mean())
        ranks[way] = first_rank(way_scores, way_grades > 0)
    measures[HEADLINE] = (measures["i2t_ndcg"] + measures["t2i_ndcg"]) / 2
    return Result(
        measures=measures,
        protocol=f"labels, NDCG@{k}",
        gallery={"i2t": scores.shape[1], "t2i": scores.shape[0]},
        split_sha=split_sha(corpus),
        ranks=ranks,
        graded=graded,
        owners=corpus.owners,
    )


def chance_by_labels(corpus: Corpus, k: int = DEPTH) -> dict[str, float]:
    """The NDCG@k that a random order has on average, which is far from zero."""
    images, texts = labels_of(corpus)
    grades = shared_labels(images, texts).astype(np.float64)
    found = {}
    for way, rows in (("i2t", grades), ("t2i", grades.T)):
        depth = min(k, rows.shape[1])
        discounts = 1.0 / np.log2(np.arange(2, depth + 2))
        best = -np.sort(-rows, axis=1)[:, :depth] @ discounts
        mean = rows.mean(axis=1) * discounts.sum()
        shares = np.divide(mean, best, out=np.zeros_like(mean), where=best > 0)
        found[f"{way}_ndcg"] = float(100 * shares.mean())
    return {**found, HEADLINE: (found["i2t_ndcg"] + found["t2i_ndcg"]) / 2}


def labels_of(corpus: Corpus) -> tuple[Bool[ndarray, "image label"], Bool[ndarray, "text label"]]:
    """The labels of images and of texts: a text has those of the image it was written for.

    It may fit other images too; labels that only those have are none of its own.
    """
    if corpus.labels is None:
        raise EvaluationError(f"corpus '{corpus.name}' has no labels to judge by")
    return corpus.labels, corpus.labels[corpus.owners]


def average_precision(
    scores: Float[ndarray, "query item"],
    relevant: Bool[ndarray, "query item"],
    k: int | None = None,
) -> Float[ndarray, " query"]:
    """Mean precision at the relevant items among the first k (all of them by default).

    Tied items stand worst first; a query that finds nothing relevant scores 0.
    """
    k = scores.shape[1] if k is None else min(k, scores.shape[1])
    out = np.zeros(len(scores))
    places = np.arange(1, k + 1)
    for query, (row, hit) in enumerate(zip(scores, relevant, strict=True)):
        found = hit[np.lexsort((hit, -row))][:k]
        if found.any():
            out[query] = (np.cumsum(found) / places)[found].mean()
    return out


def first_rank(
    scores: Float[ndarray, "query item"], relevant: Bool[ndarray, "query item"]
) -> Int[ndarray, " query"]:
    """The rank of the best relevant item, ties against it; past the end where there is none."""
    best = np.where(relevant, scores, -np.inf).max(axis=1, keepdims=True)
    return 1 + np.count_nonzero((scores >= best) & ~relevant, axis=1)
