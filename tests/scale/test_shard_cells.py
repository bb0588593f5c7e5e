"""Cells, for pointing, travel with the shards they belong to."""

import numpy as np
import pytest
from local_groups import LocalGroups
from made_pictures import make_pictures

from deixis.scale import encode_shard, index_shards
from deixis.scale.engine import LocalEngine
from deixis.scale.index_shards import index_shards as index
from deixis.scale.library_transfer import pull, push
from deixis.scale.serving import shard_group
from deixis.scale.serving.merged_candidates import MergedCandidates
from deixis.scale.sharded_library import ShardedLibrary
from deixis.scale.store import open_store
from deixis.search.library.library_store import LibraryStore, stored_cells
from deixis.search.places.pointed_phrases import PointedPhrases
from deixis.search.query.encode_queries import EncodedQuery
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher
from fake_encoder import FakeEncoder, fake_places


def use(encoder, monkeypatch):
    for module, name in (
        (index_shards, "load_encoder"),
        (encode_shard, "_encoder"),
        (shard_group, "load_encoder"),
    ):
        monkeypatch.setattr(module, name, lambda model: encoder)
    return encoder


@pytest.fixture
def encoder(monkeypatch):
    return use(FakeEncoder(places=fake_places()), monkeypatch)


@pytest.fixture
def pictures(tmp_path):
    return make_pictures(tmp_path / "pictures", 12)


def cells(folder):
    with LibraryStore(folder) as store:
        live = {content.hash for content in store.generation.manifest.live()}
        return {
            name: (own.values.tobytes(), own.scale.tobytes())
            for name, own in stored_cells(store.generation, live).items()
        }


def test_shards_hold_the_cells_that_one_library_holds(encoder, pictures, tmp_path):
    index(str(pictures), str(tmp_path / "shards"), LocalEngine(), per_shard=3)
    pull(str(tmp_path / "shards"), tmp_path / "pulled")
    with LibraryStore.open_or_create(tmp_path / "here", encoder) as library:
        library.add([pictures], encoder)
    assert len(cells(tmp_path / "here")) >= 12
    assert cells(tmp_path / "pulled") == cells(tmp_path / "here")
    push(tmp_path / "here", str(tmp_path / "pushed"))
    pull(str(tmp_path / "pushed"), tmp_path / "back")
    assert cells(tmp_path / "back") == cells(tmp_path / "here")


def test_another_place_head_is_another_job(encoder, pictures, tmp_path, monkeypatch):
    library = str(tmp_path / "shards")
    first = index(str(pictures), library, LocalEngine(), per_shard=3)
    use(FakeEncoder(places=fake_places("another head")), monkeypatch)
    again = index(str(pictures), library, LocalEngine(), per_shard=3)
    assert again.embedded == again.shards and again.manifest != first.manifest


def test_groups_point_as_one_library_does(encoder, pictures, tmp_path):
    url = str(tmp_path / "shards")
    index(url.replace("shards", "pictures"), url, LocalEngine(), per_shard=3)
    pull(url, tmp_path / "whole")
    sharded = ShardedLibrary(open_store(url))
    groups = LocalGroups(url, 3, tmp_path / "cache")
    merged = MergedCandidates(groups, sharded.current(), sharded.manifest().pictures)
    random = np.random.default_rng(0)
    phrases = random.normal(size=(1, encoder.places.dim)).astype(np.float32)
    region = np.repeat(np.float32([[1, 0, 0]]), 27, axis=1)  # of 81 cells
    pointed = PointedPhrases((None,), phrases, region, 1.0)
    text = encoder.encode_text(["a dog"]).of(0)
    query, asked = Query(text="a dog", k=20), EncodedQuery(text, text, pointed=pointed)
    with LibraryStore(tmp_path / "whole") as store:
        alone = Searcher(encoder, store).search_encoded(query, asked)
    together = Searcher(encoder, merged).search_encoded(query, asked)
    assert len(alone.hits) >= 10 and {hit.id for hit in alone.hits} == set(alone.text_order)
    assert [hit.id for hit in alone.hits] != list(alone.text_order), "places count"
    assert [(hit.id, hit.text_score) for hit in together.hits] == [
        (hit.id, hit.text_score) for hit in alone.hits
    ]
    np.testing.assert_array_equal(
        [hit.score for hit in together.hits], [hit.score for hit in alone.hits]
    )
