"""The app over a library of shards, its groups in this process: what it answers and when not."""

import numpy as np
import pytest
from fastapi.testclient import TestClient
from local_groups import LocalGroups
from PIL import Image

from deixis.scale import encode_shard, index_shards
from deixis.scale.engine import LocalEngine
from deixis.scale.index_shards import index_shards as index
from deixis.scale.library_transfer import pull
from deixis.scale.serving import cluster_library, shard_group
from deixis.scale.serving.cluster_library import ClusterLibrary
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher
from deixis.serve.app import create_app
from fake_encoder import FakeEncoder


@pytest.fixture
def encoder(monkeypatch):
    found = FakeEncoder()
    for module, name in (
        (index_shards, "load_encoder"),
        (encode_shard, "_encoder"),
        (shard_group, "load_encoder"),
        (cluster_library, "load_encoder"),
    ):
        monkeypatch.setattr(module, name, lambda model: found)
    return found


@pytest.fixture
def library(encoder, tmp_path):
    """Twelve pictures, and each of them again in another size."""
    pictures, random = tmp_path / "pictures", np.random.default_rng(0)
    pictures.mkdir()
    for number in range(12):
        blobs = Image.fromarray(random.integers(0, 256, (4, 4, 3)).astype(np.uint8))
        for prefix, side in (("a", 64), ("z", 96)):
            blobs.resize((side, side), Image.Resampling.BICUBIC).save(
                pictures / f"{prefix}-{number}.png"
            )
    index(str(pictures), str(tmp_path / "shards"), LocalEngine(), per_shard=3)
    return str(tmp_path / "shards")


@pytest.fixture
def groups(library, tmp_path):
    return LocalGroups(library, 3, tmp_path / "cache")


@pytest.fixture
def client(library, groups):
    with TestClient(create_app(ClusterLibrary(library, groups)), "http://localhost") as found:
        yield found


def search(client, **more):
    return client.get("/v1/search", params={"text": "a red wall", "k": 30, **more})


def test_answers_say_how_much_was_searched(client, groups):
    whole = search(client).json()
    assert whole["searched"] == {"rows": 24, "of": 24} and whole["partial"] is False
    groups.off = {1}
    some = search(client).json()
    assert some["partial"] is True and some["searched"]["rows"] < some["searched"]["of"] == 24


def test_with_no_group_answering_it_is_a_503_and_never_an_empty_list(client, groups):
    assert search(client).status_code == 200
    groups.off = {0, 1, 2}
    answer = search(client)
    assert answer.status_code == 503
    assert "no part of the library answers" in answer.text


def test_near_duplicates_in_different_groups_are_folded_and_bands_are_those_of_all(
    client, library, encoder, tmp_path
):
    pull(library, tmp_path / "whole")
    with LibraryStore(tmp_path / "whole") as store:
        alone = Searcher(encoder, store).search(Query(text="a red wall", k=30))
    found = search(client).json()
    assert any(hit.stack for hit in alone.hits)
    assert [(hit["id"], hit["stack"]) for hit in found["hits"]] == [
        (hit.id, list(hit.stack)) for hit in alone.hits
    ]
    assert [hit["band"] for hit in found["hits"]] == [hit.band for hit in alone.hits]
