"""Re-ranking equals its formula, and spends the slow model on the shortlists alone."""

import numpy as np
import pytest
import torch

from deixis.errors import EvaluationError
from deixis.evaluation.positive_ranks import ranks
from deixis.evaluation.qrels import Qrels
from deixis.evaluation.reranking.two_models import rerank, shortlist
from deixis.similarity.blocked.pair_scorer import pair_scorer
from deixis.similarity.camp_fusion import GatedFusion
from deixis.similarity.scan_attention import CrossAttention
from deixis.similarity.set_similarity import BestPair
from deixis.similarity.similarity import Cosine
from deixis.types import Embedding


def looked_up(scores: np.ndarray, asked: list):
    """A slow model whose answers are ready; notes what it was asked."""

    def score(image, text):
        asked.extend(zip(image.tolist(), text.tolist(), strict=True))
        return scores[image, text]

    return score


def test_orders_and_ranks_equal_the_formula(golden):
    arrays = golden("camp/rerank_formula_derived")
    asked = []
    slow = looked_up(arrays["fine_scores"], asked)
    found = rerank(arrays["base_scores"], slow, float(arrays["fraction"]))
    np.testing.assert_array_equal(np.argsort(-found.i2t, axis=1), arrays["order_i2t"])
    np.testing.assert_array_equal(np.argsort(-found.t2i, axis=1), arrays["order_t2i"])
    pairs = np.stack([np.arange(150) // 5, np.arange(150)], axis=1)
    i2t, t2i = Qrels.of_pairs(pairs), Qrels.of_pairs(pairs[:, ::-1])
    np.testing.assert_array_equal(ranks(found.i2t, i2t) - 1, arrays["ranks_i2t"])
    np.testing.assert_array_equal(ranks(found.t2i, t2i) - 1, arrays["ranks_t2i"])
    assert len(asked) == len(set(asked)) == found.pairs <= 30 * 15 + 150 * 3


def test_a_share_of_everything_is_the_slow_model_alone():
    random = np.random.default_rng(0)
    fast, slow = random.normal(size=(7, 11)), random.normal(size=(7, 11))
    found = rerank(fast, looked_up(slow, []), 1.0)
    np.testing.assert_array_equal(np.argsort(-found.i2t), np.argsort(-slow))
    np.testing.assert_array_equal(np.argsort(-found.t2i), np.argsort(-slow.T))


@pytest.mark.parametrize(
    ("depth", "items", "count"),
    [(0.1, 150, 15), (0.07, 100, 7), (0.1, 3, 1), (1.0, 7, 7), (5.0, 7, 5), (50.0, 7, 7)],
)
def test_a_share_is_rounded_up_and_a_number_is_taken_as_it_is(depth, items, count):
    scores = np.random.default_rng(0).normal(size=(2, items))
    assert shortlist(scores, depth).sum(axis=1).tolist() == [count, count]


@pytest.mark.parametrize("depth", [0.0, 1.5, -3.0])
def test_a_depth_that_is_neither_is_refused(depth):
    with pytest.raises(EvaluationError, match="depth to re-rank is"):
        shortlist(np.zeros((2, 3)), depth)


@pytest.mark.parametrize(
    ("similarity", "parts"),
    [
        (Cosine(), 1),
        (BestPair(), 3),
        (CrossAttention("t2i", 9.0, "mean", 6.0), 3),
        (GatedFusion(4, "sum", attend=True, squash=False), 3),
    ],
)
def test_any_similarity_can_be_the_slow_one(similarity, parts):
    images, texts = (
        Embedding(torch.randn(n, parts, 4), torch.ones(n, parts).bool()) for n in (5, 6)
    )
    image, text = np.array([0, 4, 2]), np.array([5, 0, 0])
    whole = similarity(images, texts).numpy(force=True)
    found = pair_scorer(similarity, images, texts)(image, text)
    np.testing.assert_allclose(found, whole[image, text], atol=1e-6)
