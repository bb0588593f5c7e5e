"""What is taken out of a library is gone from it: files, vectors, notes; the disk is untouched."""

import hashlib
import json
import os
import re
import sqlite3

import numpy as np
import pytest

from deixis.errors import SearchError
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher


@pytest.fixture
def library(tmp_path, pictures, encoder):
    """A library of two folders and one single picture; two files of them have one content."""
    more = tmp_path / "more"
    more.mkdir()
    (more / "own.jpg").write_bytes(b"picture of its own")
    (more / "copy.jpg").write_bytes(b"picture a")
    (more / "metadata.jsonl").write_text(json.dumps({"file_name": "own.jpg", "label": "secret"}))
    (tmp_path / "single.jpg").write_bytes(b"picture alone")
    with LibraryStore.open_or_create(tmp_path / "library", encoder) as store:
        store.add([pictures, more, tmp_path / "single.jpg"], encoder)
        assert store.generation.manifest.facts.labels(9) == [("secret", 1)]
    return tmp_path / "library"


def blake(content):
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def dump(folder):
    """Everything the manifest holds, as lines."""
    return list(sqlite3.connect(next(folder.glob("generation-*/manifest.sqlite"))).iterdump())


def known(folder):
    with LibraryStore(folder) as store:
        return sorted(os.path.basename(path) for path in store.generation.manifest.files())


def test_a_folder_is_taken_out_with_all_that_was_known_of_it(library, tmp_path, encoder):
    content = (tmp_path / "more" / "own.jpg").read_bytes()
    own = encoder.vector(content).astype(np.float32).tobytes()
    assert [line for line in dump(library) if blake(content) in line and '"shot"' in line]
    assert own in next(library.glob("generation-*/vectors.f32")).read_bytes()
    with LibraryStore(library) as store:
        found = store.forget([tmp_path / "more"])
        assert (found.files, found.left) == (2, 6)
        hits = Searcher(encoder, store).search(Query(text="x", k=20)).hits
        assert {os.path.basename(path) for hit in hits for path in hit.paths} == {
            *("a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.PNG", "single.jpg")
        }
        assert store.generation.manifest.facts.labels(9) == []
    assert own not in next(library.glob("generation-*/vectors.f32")).read_bytes()
    left = dump(library)
    assert not [line for line in left if "more" in line or "secret" in line]
    assert not [line for line in left if blake(content) in line]
    assert sorted(os.listdir(tmp_path / "more")) == ["copy.jpg", "metadata.jsonl", "own.jpg"]


def test_a_folder_that_was_deleted_can_be_taken_out_and_one_taken_out_comes_back(
    library, tmp_path, encoder
):
    os.rename(tmp_path / "more", tmp_path / "elsewhere")
    with LibraryStore(library) as store:
        assert store.forget([tmp_path / "more"]).files == 2
    os.rename(tmp_path / "elsewhere", tmp_path / "more")
    with LibraryStore(library) as store:
        assert store.add([tmp_path / "more"], encoder).counts == {"added": 2}
        assert store.generation.manifest.facts.labels(9) == [("secret", 1)]


def test_a_single_picture_and_everything_below_a_path_can_be_taken_out(library, tmp_path):
    with LibraryStore(library) as store:
        assert store.forget([tmp_path / "single.jpg"]).left == 7
        assert store.forget([tmp_path]).left == 0
        assert store.generation.manifest.roots() == []


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("pictures/inner", "which is indexed: it would be back after the next pass"),
        ("pictures/a.jpg", "which is indexed: it would be back after the next pass"),
        ("elsewhere", "was never given to this library; it has '"),
    ],
)
def test_what_was_not_given_is_refused_and_nothing_is_lost(library, tmp_path, path, said):
    before = known(library)
    with LibraryStore(library) as store, pytest.raises(SearchError, match=re.escape(said)):
        store.forget([tmp_path / "more", tmp_path / path])
    assert known(library) == before


def test_a_folder_within_another_stays_with_it(tmp_path, pictures, encoder):
    with LibraryStore.open_or_create(tmp_path / "library", encoder) as store:
        store.add([pictures, pictures / "inner"], encoder)
        with pytest.raises(SearchError, match="would be back"):
            store.forget([pictures / "inner"])
        assert store.forget([pictures]).left == 0
