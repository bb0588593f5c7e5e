import numpy as np
import pytest
from fake_encoder import FakeEncoder
from hypothesis import given, settings
from hypothesis import strategies as st

from deixis.search import two_stage
from deixis.search.manifest import Content
from deixis.search.two_stage import TwoStageRanking


class Chamfer(FakeEncoder):
    """A stand-in for a set model: both sides take their best partners."""

    exact = False

    def score(self, texts, images):
        products = np.einsum("tpd,iqd->tipq", texts.vectors, images.vectors)
        there = images.mask[None, :, None]
        rows = np.where(there, products, -np.inf).max(3).mean(2)
        columns = np.where(there, products, 0).max(2).sum(2) / images.mask.sum(1)
        return (rows + columns).astype(np.float32)


def made(sizes, dim=6, seed=0):
    random = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    vectors = random.normal(size=(starts[-1], dim)).astype(np.float32)
    return vectors, [Content(str(i), int(starts[i]), n) for i, n in enumerate(sizes)]


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=30),
    st.integers(1, 40),
    st.integers(1, 9),
    st.integers(0, 2**16),
)
def test_with_depth_for_all_it_equals_scoring_everything(sizes, k, rows, seed):
    vectors, live = made(sizes, seed=seed)
    random = np.random.default_rng(seed)
    allowed = random.random(len(vectors)) < 0.7
    query = random.normal(size=(3, 6)).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_stage, "ROWS", rows)
        patch.setattr(two_stage, "ITEMS", 7)
        ranking = TwoStageRanking(vectors, live, Chamfer(), depth=len(sizes))
        found = ranking.best([query], k, allowed)
        everything = ranking.scores(query, np.array([content.row for content in live]))
    scored = sorted(
        (-float(score), content.row)
        for content, score in zip(live, everything, strict=True)
        if allowed[content.row]
    )
    assert found.rows[0].tolist() == [row for _, row in scored[:k]]


@pytest.mark.parametrize("sizes", [[4] * 500, [1, 2, 3, 4] * 125])
def test_the_first_stage_is_one_way_maxsim(sizes):
    vectors, live = made(sizes)
    query = np.random.default_rng(1).normal(size=(3, 6)).astype(np.float32)
    coarse = TwoStageRanking(vectors, live, Chamfer())._coarse(query)
    expected = [(query @ vectors[c.row : c.end].T).max(1).mean() for c in live]
    np.testing.assert_allclose(coarse, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dim", [16, 128])  # the longer ones are shortened
def test_few_candidates_keep_the_best(dim):
    vectors, live = made([4] * 2000, dim=dim)
    near = np.random.default_rng(1).normal(size=(4, dim)).astype(np.float32)
    for number in range(12):
        vectors[live[100 * number].row : live[100 * number].end] += (0.5 + 0.05 * number) * near
    query = near
    allowed = np.ones(len(vectors), dtype=bool)
    exact = TwoStageRanking(vectors, live, Chamfer(), depth=2000).best([query], 10, allowed)
    found = TwoStageRanking(vectors, live, Chamfer(), depth=200).best([query], 10, allowed)
    assert len(set(exact.rows[0]) & set(found.rows[0])) == 10
