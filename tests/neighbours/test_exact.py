import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deixis.neighbours import exact
from deixis.neighbours.exact import Exact


def brute_force(vectors, query, k, allowed):
    scored = [(-float(query @ vector), row) for row, vector in enumerate(vectors) if allowed[row]]
    return sorted(scored)[:k]


@settings(deadline=None)  # the machine may be busy
@given(st.data())
def test_equals_brute_force_whatever_the_blocks_and_ties(data):
    size, queries, k = (data.draw(st.integers(0 if n == 0 else 1, 40)) for n in range(3))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    # Small whole numbers make many equal scores, and every product of them exact.
    vectors = rng.integers(-2, 3, size=(size, 3)).astype(np.float32)
    asked = rng.integers(-2, 3, size=(queries, 3)).astype(np.float32)
    allowed = rng.random(size) < data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "ROWS", data.draw(st.integers(1, 50)))
        patch.setattr(exact, "QUERIES", data.draw(st.integers(1, 50)))
        found = Exact(vectors).search(asked, k, allowed)
    for query in range(queries):
        expected = brute_force(vectors, asked[query], k, allowed)
        assert found.rows[query].tolist() == [row for _, row in expected]
        assert found.scores[query].tolist() == [-score for score, _ in expected]


def test_real_vectors_over_several_blocks_rank_as_a_full_sort_does():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40_000, 16)).astype(np.float32)
    asked = rng.normal(size=(3, 16)).astype(np.float32)
    found = Exact(vectors).search(asked, 100, np.ones(len(vectors), dtype=bool))
    for query in range(3):
        scores = vectors.astype(np.float64) @ asked[query]
        assert set(found.rows[query]) == set(np.argsort(-scores)[:100])
        assert np.all(np.diff(found.scores[query]) <= 0)
