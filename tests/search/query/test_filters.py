import json
import os
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deixis.errors import SearchError
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.filters import parse_filter
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher
from fake_encoder import FakeEncoder

DAYS = ("2024-01-01", "2024-06-01", "2025-01-01")
LABELS = ("dog", "cat", "Old Tree")
WORDS = ("snow", "beach", "isn't")


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Sixty files in two folders with labels, caption words, dates and sizes, some are copies."""
    root = tmp_path_factory.mktemp("filters")
    random = np.random.default_rng(0)
    files = []
    for folder in ("Holiday", "home"):
        (root / folder).mkdir()
        rows = []
        for number in range(30):
            name, content = f"{number:02}.jpg", f"{random.integers(45)} " + "x" * number * 40
            labels = [label for label in LABELS if random.random() < 0.4]
            words = [word for word in WORDS if random.random() < 0.4]
            day = DAYS[random.integers(3)]
            path = root / folder / name
            path.write_text(content)
            moment = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
            os.utime(path, (moment, moment))
            rows.append({"file_name": name, "labels": labels, "captions": [" ".join(words)]})
            files.append((str(path), content, day, len(content), labels, words))
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (root / folder / "metadata.jsonl").write_text(lines)
    encoder = FakeEncoder()
    with LibraryStore.open_or_create(root / "library", encoder) as library:
        library.add([root / "Holiday", root / "home"], encoder)
        yield files, Searcher(encoder, library), encoder


CONDITIONS = [
    ("path:HOLIDAY", lambda f: "holiday" in f[0].lower()),
    ("path:5.jpg", lambda f: "5.jpg" in f[0]),
    ("after:2024-06-01", lambda f: f[2] >= "2024-06-01"),
    ("before:2025-01-01", lambda f: f[2] < "2025-01-01"),
    ("larger:0.5kB", lambda f: f[3] >= 500),
    ("smaller:800", lambda f: f[3] < 800),
    *((f'label:"{label.upper()}"', lambda f, label=label: label in f[4]) for label in LABELS),
    *((f"word:{word}", lambda f, word=word: word in f[5]) for word in WORDS),
]
conditions = st.recursive(
    st.sampled_from(CONDITIONS),
    lambda inner: st.one_of(
        inner.map(lambda c: (f"NOT ({c[0]})", lambda f: not c[1](f))),
        st.tuples(inner, inner).map(
            lambda p: (f"({p[0][0]} AND {p[1][0]})", lambda f: p[0][1](f) and p[1][1](f))
        ),
        st.tuples(inner, inner).map(
            lambda p: (f"({p[0][0]} OR {p[1][0]})", lambda f: p[0][1](f) or p[1][1](f))
        ),
    ),
    max_leaves=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(conditions, st.integers(1, 70))
def test_filtered_search_equals_brute_force(known, condition, k):
    files, searcher, encoder = known
    said, passes = condition
    asked = encoder.vector(b"a query")
    allowed = {content for _, content, *_ in (f for f in files if passes(f))}
    scored = {content: float(encoder.vector(content.encode()) @ asked) for content in allowed}
    results = searcher.search(Query(text="a query", k=k, where=parse_filter(said)))
    assert results.searched == len(allowed)
    expected = sorted(scored.values(), reverse=True)[:k]
    np.testing.assert_allclose([hit.score for hit in results.hits], expected, rtol=1e-5)


def test_not_binds_closer_than_and_and_closer_than_or(known):
    files, searcher, _ = known

    def passing(said):
        return searcher.search(Query(text="x", k=70, where=parse_filter(said))).searched

    assert passing("label:dog OR label:cat NOT word:snow") == passing(
        "label:dog OR (label:cat AND (NOT word:snow))"
    )
    assert passing("label:dog OR label:cat NOT word:snow") != passing(
        "(label:dog OR label:cat) NOT word:snow"
    )


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "it ends where a condition should be"),
        ("label:dog AND", "it ends where a condition should be"),
        ("(label:dog", "a parenthesis is not closed"),
        ("label:dog)", "')' was not expected here"),
        ("dog", "'dog' is no condition"),
        ("colour:red", "there is no condition 'colour'"),
        ("after:soon", "Invalid isoformat"),
        ("larger:big", "a size is a number of bytes"),
        ("NOT " * 60 + "label:dog", "it is nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(said, why):
    with pytest.raises(
        SearchError, match="cannot be read: .*" + why.replace("(", r"\(").replace(")", r"\)")
    ):
        parse_filter(said)


@pytest.mark.parametrize("said", ["after:9999-12-31", "larger:99999999999999999G"])
def test_what_no_file_can_be_passes_none(known, said):
    _, searcher, _ = known
    assert searcher.search(Query(text="x", where=parse_filter(said))).searched == 0
