"""A model on a split, or any score matrix under a protocol."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.data.corpus import Corpus, split_sha
from deixis.data.dataset import Dataset
from deixis.errors import EvaluationError
from deixis.evaluation.measures import both_ways, precision_measures, rank_measures
from deixis.evaluation.positive_ranks import places
from deixis.evaluation.probes.gates import gate_measures
from deixis.evaluation.probes.scoring_cost import Scoring, timed
from deixis.evaluation.probes.twin_measures import twin_measures
from deixis.evaluation.protocols.five_folds import consecutive, mean_of_folds, ranks_in_folds
from deixis.evaluation.qrels import Qrels
from deixis.evaluation.result import Result
from deixis.methods.model import Model
from deixis.runs.embed_dataset import encode
from deixis.similarity.blocked.blocked_scoring import score_matrix


def scores_of(model: Model, dataset: Dataset) -> Float[ndarray, "image text"]:
    """Score every image of a dataset with every text."""
    images, texts = encode(model, dataset)
    return score_matrix(model.similarity, images, texts).cpu().numpy()


def scores_in_folds(model: Model, dataset: Dataset, folds: int = 5) -> Float[ndarray, "image text"]:
    """Score the images of each fold with the fold's own texts; zero elsewhere, where nobody looks.

    Of five folds that is a fifth of all pairs, which counts where a pair costs a cross-attention.
    """
    of_image = consecutive(len(dataset.corpus.files), folds)
    of_text = of_image[dataset.corpus.owners]
    scores = np.zeros((len(of_image), len(of_text)), np.float32)
    for fold in range(folds):
        alone = scores_of(model, dataset.keep(of_image == fold))
        scores[np.ix_(of_image == fold, of_text == fold)] = alone
    return scores


def evaluate_split(model: Model, dataset: Dataset) -> Result:
    """Rank the whole split both ways; measure the time, and the gates of a model that has some."""
    scoring = Scoring(model.similarity, *encode(model, dataset))
    scores, seconds = timed(scoring.matrix)
    result = judge(scores, dataset.corpus)
    measures = result.measures | gate_measures(scoring, dataset)
    costs = {"query_ms": 1000.0 * scoring.query_seconds(), "whole_s": seconds}
    return replace(result, measures=measures, costs=costs)


def judge(scores: Float[ndarray, "image text"], corpus: Corpus) -> Result:
    """Measure a score matrix over a whole split: what papers call 1K or 5K, by its size."""
    _check_shape(scores, corpus)
    i2t = places(scores, Qrels.of_pairs(corpus.pairs))
    t2i = places(scores.T, Qrels.of_pairs(corpus.pairs[:, ::-1]))
    return Result(
        measures=both_ways(*(rank_measures(p.best) | precision_measures(p) for p in (i2t, t2i)))
        | twin_measures(scores, corpus),
        protocol="whole split",
        gallery={"i2t": scores.shape[1], "t2i": scores.shape[0]},
        split_sha=split_sha(corpus),
        ranks={"i2t": i2t.best, "t2i": t2i.best},
        owners=corpus.owners,
    )


def judge_folds(scores: Float[ndarray, "image text"], corpus: Corpus, folds: int = 5) -> Result:
    """Measure consecutive folds of images with their texts, each on its own, and average."""
    _check_shape(scores, corpus)
    of_image = consecutive(len(corpus.files), folds)
    ranked = ranks_in_folds(scores, corpus.pairs, of_image, of_image[corpus.owners])
    measures, joined = mean_of_folds(ranked)
    return Result(
        measures=measures,
        protocol=f"mean of {folds} folds",
        gallery={"i2t": len(corpus.texts) // folds, "t2i": len(corpus.files) // folds},
        split_sha=split_sha(corpus),
        ranks=joined,
    )


def ensemble(
    matrices: Sequence[Float[ndarray, "image text"]],
) -> Float[ndarray, "image text"]:
    """Average the scores of several models, as they are."""
    shapes = sorted({matrix.shape for matrix in matrices})
    if len(shapes) != 1:
        raise EvaluationError(f"an ensemble needs scores of one shape, found {shapes}")
    return sum(matrices[1:], start=matrices[0]) / len(matrices)


def _check_shape(scores: Float[ndarray, "image text"], corpus: Corpus) -> None:
    expected = (len(corpus.files), len(corpus.texts))
    if scores.shape != expected:
        raise EvaluationError(f"scores are {scores.shape}, the split is {expected} (image, text)")
