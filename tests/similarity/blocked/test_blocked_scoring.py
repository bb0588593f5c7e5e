import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from deixis.errors import EvaluationError
from deixis.similarity.blocked.blocked_scoring import block_shape, score_matrix
from deixis.similarity.blocked.topk import nearest, top_k
from deixis.similarity.similarity import Cosine, Pairs, Similarity
from deixis.types import Embedding


class BestPair(Similarity):
    """The best pair of parts: a similarity over sets."""

    def score(self, pairs: Pairs):
        affinity = pairs.affinity(pairs.images.vectors, pairs.texts.vectors)
        meets = pairs.v_mask.unsqueeze(-1) & pairs.w_mask.unsqueeze(-2)
        return affinity.masked_fill(~meets, -torch.inf).amax((-1, -2))


def embedding(items: int, parts: int, seed: int, levels: int = 0) -> Embedding:
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(items, parts, 8, generator=generator)
    if levels:  # small whole numbers: exact products, many ties
        vectors = (vectors * levels).round()
    mask = torch.rand(items, parts, generator=generator) < 0.7
    mask[:, 0] = True
    return Embedding(vectors, mask)


sizes = st.integers(1, 12)


@given(sizes, sizes, st.integers(4, 4000), st.integers(0, 999))
@settings(max_examples=50, deadline=None)
def test_the_block_size_never_changes_the_matrix(images, texts, budget, seed):
    exact = embedding(images, 3, seed, 2), embedding(texts, 4, seed + 1, 2)
    whole = BestPair()(*exact)
    assert torch.equal(score_matrix(BestPair(), *exact, budget=budget), whole)
    rounded = embedding(images, 3, seed), embedding(texts, 4, seed + 1)
    cut = score_matrix(BestPair(), *rounded, budget=budget)
    torch.testing.assert_close(cut, BestPair()(*rounded), atol=1e-6, rtol=1e-6)


@given(sizes, sizes, st.integers(1, 10**6))
def test_a_block_keeps_within_its_budget(images, texts, budget):
    bytes_per_pair = BestPair().bytes_per_pair(embedding(images, 3, 0), embedding(texts, 4, 1))
    rows, columns = block_shape(images, texts, max(1, budget // bytes_per_pair))
    assert rows * columns == 1 or rows * columns * 3 * 4 * 4 <= budget


def sorted_best(scores: np.ndarray, k: int) -> np.ndarray:
    return np.stack([np.lexsort((np.arange(len(row)), -row))[:k] for row in scores])


@given(sizes, sizes, st.integers(1, 15), st.integers(4, 400), st.integers(0, 999))
@settings(max_examples=50, deadline=None)
def test_streamed_top_k_is_that_of_a_full_sort_whatever_ties(images, texts, k, budget, seed):
    sides = embedding(images, 1, seed, 1), embedding(texts, 1, seed + 1, 1)
    scores = Cosine()(*sides).numpy()
    of_images, of_texts = top_k(Cosine(), *sides, k=k, budget=budget)
    np.testing.assert_array_equal(of_images.items, sorted_best(scores, k))
    np.testing.assert_array_equal(of_texts.items, sorted_best(scores.T, k))
    np.testing.assert_array_equal(
        of_images.scores, np.take_along_axis(scores, of_images.items, axis=1)
    )


def test_signs_zeros_and_infinities_keep_their_order():
    row = np.array([[-0.0, 0.0, -1.5, 2.5, -np.inf, np.inf, -1e-38, 1e-38]], dtype=np.float32)
    found = nearest(row, 8)
    assert found.items.tolist() == [[5, 3, 7, 0, 1, 6, 2, 4]]
    np.testing.assert_array_equal(found.scores, row[0, found.items])


def test_nan_is_refused():
    scores = np.zeros((3, 40), dtype=np.float32)
    scores[1, 7] = np.nan
    for k in (5, 40):
        with pytest.raises(EvaluationError, match="NaN"):
            nearest(scores, k)
