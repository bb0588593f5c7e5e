import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deixis.neighbours import eight_bit_scan, exact
from deixis.search.index import two_stage
from deixis.search.index.two_stage import TwoStageRanking
from deixis.search.library.manifest import ContentRows
from fake_encoder import FakeEncoder


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
    return vectors, [ContentRows(str(i), int(starts[i]), n) for i, n in enumerate(sizes)]


def places(live):
    return tuple(np.array([(c.row, c.parts) for c in live], dtype=np.int64).T)


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
        patch.setattr(exact, "ROWS", rows)
        patch.setattr(two_stage, "ITEMS", 7)
        ranking = TwoStageRanking(vectors, places(live), Chamfer(), depth=len(sizes))
        found = ranking.best([query], k, allowed)
        everything = ranking.scores(query, np.array([content.row for content in live]))
    scored = sorted(
        (-float(score), content.row)
        for content, score in zip(live, everything, strict=True)
        if allowed[content.row]
    )
    assert found.rows[0].tolist() == [row for _, row in scored[:k]]


@pytest.fixture(params=["float32", "eight bits"])
def precision(request, monkeypatch):
    monkeypatch.setattr(eight_bit_scan, "FEWEST", 1)
    layout = None if request.param == "float32" else "unsigned"
    monkeypatch.setattr(eight_bit_scan, "integer_layout", lambda: layout)
    return 1e-5 if layout is None else 0.05


@pytest.mark.parametrize("rows", [1, 7, 64, 5000])  # pictures lie across the borders of blocks
@pytest.mark.parametrize("sizes", [[4] * 50, [1, 2, 3, 4] * 13])
def test_the_first_stage_is_one_way_maxsim(precision, monkeypatch, sizes, rows):
    monkeypatch.setattr(exact, "ROWS", rows)
    vectors, live = made(sizes)
    live = [content for number, content in enumerate(live) if number % 5]  # some were removed
    query = np.random.default_rng(1).normal(size=(3, 6)).astype(np.float32)
    coarse = TwoStageRanking(vectors, places(live), Chamfer())._coarse(query)
    expected = [(query @ vectors[c.row : c.end].T).max(1).mean() for c in live]
    np.testing.assert_allclose(coarse, expected, atol=precision)


@pytest.mark.parametrize("dim", [16, 128])
def test_few_candidates_keep_the_best(precision, dim):
    vectors, live = made([4] * 2000, dim=dim)
    near = np.random.default_rng(1).normal(size=(4, dim)).astype(np.float32)
    for number in range(12):
        vectors[live[100 * number].row : live[100 * number].end] += (0.5 + 0.05 * number) * near
    query = near
    allowed = np.ones(len(vectors), dtype=bool)
    exact = TwoStageRanking(vectors, places(live), Chamfer(), depth=2000).best([query], 10, allowed)
    found = TwoStageRanking(vectors, places(live), Chamfer(), depth=200).best([query], 10, allowed)
    assert len(set(exact.rows[0]) & set(found.rows[0])) == 10
