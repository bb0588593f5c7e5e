"""Mining by estimates in eight bits finds what scoring every pair finds, rows and order."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from deixis.neighbours import eight_bit_scan, exact
from deixis.neighbours.integer_layout import sums_are_right
from deixis.similarity.blocked import nearest_rows
from deixis.similarity.blocked.nearest_rows import NearestRows, dot_products_of

NONE = np.empty((0, 2), dtype=np.int64)


def brute_force(queries, rows, k, hidden):
    """Every pair's dot product; of equal ones the lower row first."""
    every = np.divmod(np.arange(len(queries) * len(rows)), len(rows))
    scores = dot_products_of(queries, rows, every).reshape(len(queries), len(rows)) + 0.0
    scores[hidden[:, 0], hidden[:, 1]] = -np.inf
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(scores, order, axis=1)


def drawn(kind, random, size, dim):
    if kind == "ties":
        return random.integers(-2, 3, (size, dim)).astype(np.float32)
    rows = random.normal(size=(size, dim)).astype(np.float32)
    if kind == "duplicates":
        return rows[random.integers(0, max(1, size // 4), size)]
    if kind == "zeros":
        rows[random.random(size) < 0.5] = 0
    if kind == "one direction":
        rows = (rows[:1] + 1e-6 * rows).astype(np.float32)
    if kind == "outliers":
        rows[random.integers(size)] *= 1e6
    return rows


# Kernels of some processors overflow on signed rows, which is why the product tries them first.
LAYOUTS = [layout for layout in ("signed", "unsigned") if sums_are_right(layout)]
KINDS = ("plain", "ties", "duplicates", "zeros", "one direction", "outliers")


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_equals_brute_force_in_rows_order_and_scores(data):
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    size, asked = data.draw(st.integers(1, 70)), data.draw(st.integers(1, 6))
    dim, kind = data.draw(st.integers(1, 9)), data.draw(st.sampled_from(KINDS))
    rows = torch.from_numpy(drawn(kind, random, size, dim))
    queries = torch.from_numpy(drawn(kind, random, asked, dim))
    hidden = np.argwhere(random.random((asked, size)) < data.draw(st.sampled_from([0.0, 0.3])))
    fewest = size - np.bincount(hidden[:, 0], minlength=asked).max()
    if not fewest:
        return
    k = data.draw(st.integers(1, int(fewest)))
    layout = data.draw(st.sampled_from(LAYOUTS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(eight_bit_scan, "FEWEST", 1)
        patch.setattr(exact, "ROWS", data.draw(st.integers(1, 80)))
        patch.setattr(nearest_rows, "MOST", data.draw(st.sampled_from([1, 1000])))
        patch.setattr(nearest_rows, "DOUBT", data.draw(st.sampled_from([-2.0, 0.0, 0.125])))
        found = NearestRows(rows, k, layout).of(queries, hidden)
    items, scores = brute_force(queries, rows, k, hidden)
    assert found.items.tolist() == items.tolist()
    assert found.scores.tolist() == scores.tolist()


def test_a_dot_product_does_not_depend_on_what_else_is_scored():
    random = np.random.default_rng(0)
    rows = torch.from_numpy(random.normal(size=(300, 1027)).astype(np.float32))
    every = np.divmod(np.arange(300 * 300), 300)
    whole = dot_products_of(rows, rows, every).reshape(300, 300)
    assert np.array_equal(whole, whole.T)
    some = np.sort(random.choice(300 * 300, 999, replace=False))
    query, row = np.divmod(some, 300)
    assert np.array_equal(dot_products_of(rows, rows, (query, row)), whole[query, row])
    wide = rows.double() @ rows.double().T
    np.testing.assert_allclose(whole, wide.numpy(), atol=1e-3)


@pytest.mark.parametrize(("layout", "plain"), [("unsigned", 0), (None, 5)])
def test_without_integer_kernels_products_in_float32_answer(monkeypatch, layout, plain):
    monkeypatch.setattr(eight_bit_scan, "integer_layout", lambda: layout)
    random = np.random.default_rng(0)
    rows = torch.from_numpy(random.normal(size=(9000, 32)).astype(np.float32))
    engine = NearestRows(rows, 7)
    found = engine.of(rows[:5], NONE)
    assert found.items[:, 0].tolist() == list(range(5))
    assert found.items.tolist() == brute_force(rows[:5], rows, 7, NONE)[0].tolist()
    assert engine.plain == plain
