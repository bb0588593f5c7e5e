import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deixis.errors import SearchError
from deixis.neighbours.exact import Exact
from deixis.search.index import ivf
from deixis.search.index.ivf import Ivf

pytest.importorskip("faiss")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(ivf, "FEW", 50)  # so that few rows are enough for cells


def unit(values):
    return (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)


def made(rows=3000, dim=16, seed=0):
    """Rows around topics, as pictures are: a query's best rows are near each other."""
    random = np.random.default_rng(seed)
    topics = random.normal(size=(60, dim))
    return unit(topics[random.integers(0, 60, rows)] + 0.5 * random.normal(size=(rows, dim)))


@settings(deadline=None, max_examples=15)
@given(st.integers(1, 40), st.floats(0.01, 1.0), st.integers(0, 2**16))
def test_with_every_cell_it_equals_exact_whatever_the_filter(k, share, seed):
    vectors = made()
    random = np.random.default_rng(seed)
    allowed = random.random(len(vectors)) < share
    queries = unit(random.normal(size=(3, 16)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ivf, "FEW", 50)
        found = Ivf(vectors, share=1.0).search(queries, k, allowed)
    exact = Exact(vectors).search(queries, k, allowed)
    np.testing.assert_array_equal(found.rows, exact.rows)
    np.testing.assert_allclose(found.scores, exact.scores, rtol=1e-5)


def test_a_quarter_of_the_cells_finds_nearly_everything():
    vectors, queries = made(), made(40, seed=1)
    allowed = np.ones(len(vectors), dtype=bool)
    found, exact = (
        index.search(queries, 10, allowed).rows for index in (Ivf(vectors), Exact(vectors))
    )
    pairs = zip(found, exact, strict=True)
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in pairs]) > 0.95


def test_a_filter_that_empties_the_nearest_cells_still_gives_k_rows():
    vectors = made()
    query = vectors[:1]
    far = np.argsort(vectors @ query[0])[:200]
    allowed = np.zeros(len(vectors), dtype=bool)
    allowed[far] = True
    found = Ivf(vectors, share=0.02).search(query, 20, allowed)
    assert found.rows.shape == (1, 20)
    assert allowed[found.rows].all()


def test_cells_are_kept_grown_and_never_used_for_other_vectors(tmp_path, monkeypatch):
    vectors, path, learnt = made(), tmp_path / "cells.faiss", []
    learn = ivf._learnt
    monkeypatch.setattr(ivf, "_learnt", lambda rows: learnt.append(len(rows)) or learn(rows))
    allowed = np.ones(len(vectors), dtype=bool)
    Ivf(vectors[:2000], path)
    grown = Ivf(vectors, path, share=1.0)
    assert learnt == [2000]
    assert json.loads(path.with_suffix(".json").read_text())["rows"] == 3000
    wanted = Exact(vectors).search(vectors[-5:], 3, allowed).rows
    np.testing.assert_array_equal(grown.search(vectors[-5:], 3, allowed).rows, wanted)
    Ivf(vectors, path)
    assert learnt == [2000]
    Ivf(made(seed=9), path)
    path.write_bytes(b"damaged")
    Ivf(made(seed=9), path)
    assert learnt == [2000, 3000, 3000]


def test_without_faiss_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(ivf, "find_spec", lambda name: None)
    with pytest.raises(SearchError, match=r"pip install 'deixis\[ann\]'"):
        Ivf(made())
