from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_groups import LocalGroups

from deixis.errors import UnavailableError
from deixis.features.trace.drawing import Drawing
from deixis.features.trace.narration import Point
from deixis.scale import encode_shard, index_shards
from deixis.scale.engine import LocalEngine
from deixis.scale.library_transfer import pull, push
from deixis.scale.serving import shard_group
from deixis.scale.serving.merged_candidates import MergedCandidates
from deixis.scale.serving.shard_group import share
from deixis.scale.sharded_library import ShardedLibrary
from deixis.scale.store import open_store
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.encode_queries import EncodedQuery
from deixis.search.query.filters import parse_filter
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher
from fake_encoder import FakeEncoder

GROUPS = 3
QUERIES = [
    Query(text="a dog"),
    Query(text="a cat", k=5),
    Query(text="a dog", where=parse_filter("path:1")),
    Query(
        text="a red boat", k=50, drawing=Drawing(((Point(0.1, 0.1, 0.0), Point(0.4, 0.4, 1.0)),))
    ),
    Query(text="nothing passes", where=parse_filter("path:zzz")),
]


@pytest.fixture(scope="module")
def encoder():
    found = FakeEncoder()
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (index_shards, "load_encoder"),
            (encode_shard, "_encoder"),
            (shard_group, "load_encoder"),
        ):
            patch.setattr(module, name, lambda model: found)
        yield found


@pytest.fixture(scope="module")
def library(tmp_path_factory, encoder):
    """The address of a sharded library of 60 pictures, no two the same."""
    return make_library(tmp_path_factory.mktemp("scale"), distinct=60)


def make_library(root, distinct):
    (root / "pictures").mkdir()
    for number in range(60):
        content = f"picture {number % distinct}".encode()
        (root / "pictures" / f"{number:02}.jpg").write_bytes(content)
    url = str(root / "library")
    index_shards.index_shards(str(root / "pictures"), url, LocalEngine(), per_shard=5)
    return url


@pytest.fixture
def whole(library, tmp_path, encoder):
    """The same pictures in one folder."""
    pull(library, tmp_path / "whole")
    with LibraryStore(tmp_path / "whole") as store:
        yield Searcher(encoder, store)


@pytest.fixture
def groups(library, tmp_path):
    return LocalGroups(library, GROUPS, tmp_path / "cache")


@pytest.fixture
def merged(library, groups):
    return current(library, groups)


def current(library, groups):
    sharded = ShardedLibrary(open_store(library))
    state = sharded.current()
    return MergedCandidates(groups, state, sharded.manifest(state).pictures)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.text)
def test_shards_answer_as_one_library_does(query, whole, merged, encoder):
    together = Searcher(encoder, merged).search(query)
    assert together.coverage == (60, 60)
    assert replace(together, coverage=None) == whole.search(query)


def test_copies_in_several_groups_are_one_hit_with_all_paths(tmp_path, encoder):
    url = make_library(tmp_path, distinct=40)
    pull(url, tmp_path / "whole")
    merged = current(url, LocalGroups(url, GROUPS, tmp_path / "cache"))
    query = Query(text="a dog", k=200)
    with LibraryStore(tmp_path / "whole") as store:
        alone = Searcher(encoder, store).search(query)
    together = Searcher(encoder, merged).search(query)
    assert len(alone.hits) == 40
    assert [(hit.id, hit.score, hit.paths) for hit in together.hits] == [
        (hit.id, hit.score, hit.paths) for hit in alone.hits
    ]


def test_ranks_equal_those_of_one_library(whole, merged, encoder):
    vectors = EncodedQuery(encoder.encode_text(["a dog"]).of(0))
    ids = [hit.id for hit in whole.search(Query(text="a dog", k=200)).hits]
    assert [merged.rank(vectors, id) for id in ids] == [whole.rank(vectors, id) for id in ids]
    assert merged.rank(vectors, "f" * 32) is None


def test_a_group_that_does_not_answer_is_left_out_and_the_answer_says_so(merged, groups, encoder):
    searcher = Searcher(encoder, merged)
    every = searcher.search(Query(text="a dog", k=200))
    groups.off = {1}
    some = searcher.search(Query(text="a dog", k=200))
    assert some.partial and some.coverage[0] < some.coverage[1]
    assert set(some.hits) < {replace(hit) for hit in every.hits}
    groups.off = set(range(GROUPS))
    with pytest.raises(UnavailableError, match="no part of the library answers"):
        searcher.search(Query(text="a dog"))


def test_a_missing_group_may_hold_what_passes_a_filter(merged, groups, encoder):
    groups.off = {2}
    query = Query(text="a dog", where=parse_filter("path:zzz"))
    notes = Searcher(encoder, merged).search(query).notes
    assert "nothing_passes" not in [note.code for note in notes]


def test_requests_about_the_state_before_are_answered_from_it(library, groups, encoder, tmp_path):
    sharded = ShardedLibrary(open_store(library))
    before = sharded.current()
    manifest = sharded.manifest(before)
    smaller = replace(manifest, shards=manifest.shards[:-3])
    old = Searcher(encoder, MergedCandidates(groups, before, manifest.pictures))
    found = old.search(Query(text="a dog", k=200))
    sharded.publish(smaller)
    new = Searcher(encoder, MergedCandidates(groups, smaller.name, smaller.pictures))
    assert len(new.search(Query(text="a dog", k=200)).hits) < len(found.hits)
    assert old.search(Query(text="a dog", k=200)) == found
    sharded.current()
    sharded.publish(manifest)


def test_a_pushed_library_comes_back_as_it_was(whole, tmp_path, encoder):
    push(tmp_path / "whole", str(tmp_path / "pushed"))
    pull(str(tmp_path / "pushed"), tmp_path / "again")
    with LibraryStore(tmp_path / "again") as store:
        assert [Searcher(encoder, store).search(query) for query in QUERIES] == [
            whole.search(query) for query in QUERIES
        ]


@given(st.integers(0, 200), st.integers(1, 9))
def test_shares_cover_everything_once(items, of):
    shares = [np.arange(items)[share(items, number, of)] for number in range(of)]
    assert np.concatenate(shares).tolist() == list(range(items))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
