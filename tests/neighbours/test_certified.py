"""The scan in eight bits answers as brute force does: the same rows, order and scores."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deixis.neighbours import eight_bit_scan, exact
from deixis.neighbours.certified import Certified
from deixis.neighbours.exact import Exact
from deixis.neighbours.integer_layout import sums_are_right
from deixis.neighbours.large_pages import use_large_pages


def brute_force(vectors, query, k, allowed):
    """Every score in float64, rounded once; of equal ones the lower row first."""
    with np.errstate(over="ignore"):
        scores = [
            np.float32(np.vecdot(row.astype(np.float64), query.astype(np.float64)))
            for row in vectors
        ]
    ranked = sorted((-float(scores[row]), row) for row in np.flatnonzero(allowed))[:k]
    return [row for _, row in ranked], [-score for score, _ in ranked]


# Kernels of some processors overflow on signed rows, which is why the product tries them first.
LAYOUTS = [layout for layout in ("signed", "unsigned") if sums_are_right(layout)]


def agrees(vectors, queries, k, allowed, layout=LAYOUTS[0]):
    engine = Certified(vectors, layout=layout)
    for found in (engine.search(queries, k, allowed), Exact(vectors).search(queries, k, allowed)):
        for place, query in enumerate(queries):
            rows, scores = brute_force(vectors, query, k, allowed)
            assert found.rows[place].tolist() == rows
            assert found.scores[place].tolist() == scores
    return engine


@pytest.fixture(autouse=True)
def even_for_few_rows(monkeypatch):
    monkeypatch.setattr(eight_bit_scan, "FEWEST", 1)


def drawn_rows(kind, random, size, dim):
    if kind == "ties":
        return random.integers(-2, 3, (size, dim)).astype(np.float32)
    rows = random.normal(size=(size, dim)).astype(np.float32)
    if kind == "duplicates":
        return rows[random.integers(0, max(1, size // 4), size)]
    if kind == "zeros":
        rows[random.random(size) < 0.5] = 0
    if kind == "one direction":  # differences far below what eight bits can resolve
        rows = (rows[:1] + 1e-6 * rows).astype(np.float32)
    if kind == "outliers":  # a row and a column that dwarf the others
        rows[random.integers(size)] *= 1e6
        rows[:, random.integers(dim)] *= 1e3
    if kind == "any size":
        rows *= (10.0 ** random.uniform(-44, 37, (size, 1))).astype(np.float32)
    return rows


KINDS = ("plain", "ties", "duplicates", "zeros", "one direction", "outliers", "any size")


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_equals_brute_force_in_rows_order_and_scores(data):
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    size, k = data.draw(st.integers(1, 70)), data.draw(st.integers(1, 80))
    dim, asked = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 6))
    kind = data.draw(st.sampled_from(KINDS))
    with np.errstate(over="ignore", under="ignore"):
        vectors = np.nan_to_num(drawn_rows(kind, random, size, dim), posinf=3e38, neginf=-3e38)
        queries = np.nan_to_num(drawn_rows(kind, random, asked, dim), posinf=3e38, neginf=-3e38)
    allowed = random.random(size) < data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "ROWS", data.draw(st.integers(1, 80)))
        patch.setattr(exact, "SCORES", data.draw(st.integers(1, 400)))
        agrees(vectors, queries, k, allowed, data.draw(st.sampled_from(LAYOUTS)))


def clustered(size=20_000, dim=64):
    random = np.random.default_rng(0)
    topics = random.normal(size=(50, dim))
    rows = topics[np.arange(size) % 50] + random.normal(size=(size, dim))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32), (topics[:7] / 8).astype(np.float32)


def test_most_rows_of_a_large_library_are_never_read_in_float32():
    vectors, queries = clustered()
    engine = agrees(vectors, queries, 20, np.ones(len(vectors), dtype=bool))
    assert (engine.certified, engine.plain) == (len(queries), 0)


def test_a_filter_counts():
    vectors, queries = clustered()
    half = np.arange(len(vectors)) % 2 == 1
    assert agrees(vectors, queries, 20, half).certified == len(queries)
    few = np.arange(len(vectors)) % 100 == 1
    engine = agrees(vectors, queries, 20, few)
    assert (engine.certified, engine.plain) == (0, 0)  # the allowed rows alone are read


def test_rows_too_alike_for_eight_bits_are_searched_by_the_plain_pass_and_counted():
    random = np.random.default_rng(0)
    vectors = (1 + 1e-6 * random.normal(size=(20_000, 32))).astype(np.float32)
    vectors[:, 0] = 5 * random.normal(size=20_000)
    query = np.zeros((1, 32), np.float32)
    query[0, 1:] = random.normal(size=31)  # asks only for what rounding loses
    engine = agrees(vectors, query, 10, np.ones(20_000, dtype=bool))
    assert (engine.certified, engine.plain) == (0, 1)


def test_a_bonus_in_one_column_does_not_blur_the_others():
    vectors, queries = clustered()
    vectors = np.concatenate([vectors, np.full((len(vectors), 1), -0.3, np.float32)], axis=1)
    queries = np.concatenate([queries, np.ones((len(queries), 1), np.float32)], axis=1)
    assert agrees(vectors, queries, 20, np.ones(len(vectors), dtype=bool)).plain == 0


def test_without_integer_kernels_the_plain_pass_answers(monkeypatch):
    monkeypatch.setattr(eight_bit_scan, "integer_layout", lambda: None)
    vectors, queries = clustered(2000)
    engine = agrees(vectors, queries, 5, np.ones(len(vectors), dtype=bool), layout=None)
    assert (engine.certified, engine.plain) == (0, len(queries))


def test_searches_at_the_same_time_do_not_disturb_each_other():
    vectors, _ = clustered()
    queries = vectors[::500].copy()
    allowed = np.ones(len(vectors), dtype=bool)
    engine, wanted = (
        Certified(vectors, layout=LAYOUTS[0]),
        Exact(vectors).search(queries, 9, allowed),
    )
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda query: engine.search(query[None], 9, allowed), queries))
    assert np.array_equal(np.concatenate([one.rows for one in found]), wanted.rows)
    assert np.array_equal(np.concatenate([one.scores for one in found]), wanted.scores)
    assert engine.plain == 0


def test_answers_stay_when_the_rows_have_moved_into_large_pages(monkeypatch):
    moved = Event()
    monkeypatch.setattr(eight_bit_scan, "OFTEN", 3)
    monkeypatch.setattr(
        eight_bit_scan, "use_large_pages", lambda: (use_large_pages(), moved.set())[1]
    )
    vectors, queries = clustered()
    allowed = np.ones(len(vectors), dtype=bool)
    engine, wanted = (
        Certified(vectors, layout=LAYOUTS[0]),
        Exact(vectors).search(queries, 9, allowed),
    )
    for asked in range(5):
        found = engine.search(queries, 9, allowed)
        assert np.array_equal(found.rows, wanted.rows)
        assert asked != 3 or moved.wait(60)
    assert moved.is_set()
