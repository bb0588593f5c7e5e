"""Cells beside the vectors: stored with them, part of its identity, verified, upgraded."""

import json

import numpy as np
import pytest

from deixis.errors import SearchError
from deixis.search.library.library_store import LibraryStore
from deixis.search.library.verification import verify
from deixis.search.places.place_ranking import PlaceRanking
from fake_encoder import FakeEncoder, fake_places


@pytest.fixture
def places():
    return fake_places()


def indexed(folder, pictures, encoder):
    with LibraryStore.open_or_create(folder, encoder) as store:
        return store.add([pictures], encoder)


def slots_of(store):
    return store.generation.manifest.cells.of(store.header.places)


def stored_cells(store, slot):
    return store.generation.cells.read([slot.slot]).values


def test_a_library_without_cells_is_upgraded_by_encoding_only_what_lacks_them(
    tmp_path, pictures, places
):
    folder = tmp_path / "library"
    indexed(folder, pictures, FakeEncoder())
    with LibraryStore(folder) as store:
        before = np.array(store.generation.vectors())
        assert store.header.places == "" and store.generation.cells is None
    (pictures / "a.jpg").unlink()
    (pictures / "f.jpg").write_bytes(b"picture f")
    encoder = FakeEncoder(places=places)
    report = indexed(folder, pictures, encoder)
    assert report.counts == {"unchanged": 4, "added": 1, "removed": 1}
    assert sorted(encoder.seen) == ["b.jpg", "c.jpg", "d.jpg", "e.PNG", "f.jpg"]
    with LibraryStore(folder) as store:
        assert store.header.places == places.identity
        np.testing.assert_array_equal(store.generation.vectors()[: len(before)], before)
        assert len(slots_of(store)) == 5
    again = FakeEncoder(places=places)
    assert indexed(folder, pictures, again).counts == {"unchanged": 5} and not again.seen


def test_cells_of_another_head_are_made_again_and_never_read(tmp_path, pictures, places):
    folder = tmp_path / "library"
    indexed(folder, pictures, FakeEncoder(places=places))
    other = fake_places("another head")
    assert other.identity != places.identity
    with LibraryStore(folder) as store:
        ranking = PlaceRanking(store.generation, 5, other)
        assert not ranking.knows(np.arange(5)).any()
        assert PlaceRanking(store.generation, 5, places).knows(np.arange(5)).all()
    encoder = FakeEncoder(places=other)
    assert indexed(folder, pictures, encoder).encoded == 5
    with LibraryStore(folder) as store:
        for slot in slots_of(store):
            entry = store.generation.manifest.files_of(slot.hash)[0]
            with open(entry.path, "rb") as file:
                expected = encoder.cells([file.read()]).values
            np.testing.assert_array_equal(stored_cells(store, slot), expected)
        files = [path.name for path in store.generation.folder.glob("cells-*")]
        assert files == [store.generation.cells.path.name], "the old head's cells are gone"


def test_a_flipped_byte_of_the_cells_is_found_placed_and_repaired(tmp_path, pictures, places):
    folder = tmp_path / "library"
    encoder = FakeEncoder(places=places)
    indexed(folder, pictures, encoder)
    with LibraryStore(folder) as store:
        file = store.generation.cells
        path, width = file.path, file.width
    assert path.stat().st_size == 5 * (81 * 64 + 4)
    content = bytearray(path.read_bytes())
    content[2 * width + 99] ^= 1
    path.write_bytes(content)
    (damage,) = verify(folder).damages
    assert (damage.file, damage.start, damage.end) == (path.name, 2 * width, 3 * width)
    assert "cells" in damage.reason and not damage.repaired
    with LibraryStore(folder) as store, pytest.raises(SearchError, match="deixis verify"):
        PlaceRanking(store.generation, 5, places)
    (mended,) = verify(folder, load=lambda source: encoder).damages
    assert mended.repaired
    assert verify(folder).damages == ()


def test_cells_that_are_gone_are_encoded_again(tmp_path, pictures, places):
    folder = tmp_path / "library"
    indexed(folder, pictures, FakeEncoder(places=places))
    with LibraryStore(folder) as store:
        path, width = store.generation.cells.path, store.generation.cells.width
    path.write_bytes(path.read_bytes()[: 2 * width + 7])
    assert [damage.file for damage in verify(folder).damages] == [path.name]
    encoder = FakeEncoder(places=places)
    report = indexed(folder, pictures, encoder)
    assert report.counts == {"unchanged": 5} and len(encoder.seen) == 3
    assert verify(folder).damages == ()


def test_compaction_and_rebuilding_keep_cells_with_their_pictures(tmp_path, pictures, places):
    folder, encoder = tmp_path / "library", FakeEncoder(places=places)
    indexed(folder, pictures, encoder)
    for name in ("a", "b", "c"):
        (pictures / f"{name}.jpg").unlink()
    indexed(folder, pictures, encoder)
    with LibraryStore(folder) as store:
        assert store.generation.folder.name == "generation-2"
        assert len(slots_of(store)) == 2 and verify(folder).damages == ()
        other = FakeEncoder("b" * 32, places=places)
        store.rebuild([], other)
        assert len(slots_of(store)) == 2


def test_a_header_written_before_there_were_cells_is_read(tmp_path, pictures):
    folder = tmp_path / "library"
    indexed(folder, pictures, FakeEncoder())
    header = folder / "generation-1" / "header.json"
    fields = json.loads(header.read_text())
    header.write_text(
        json.dumps({k: v for k, v in fields.items() if k not in ("places", "cell_dim")})
    )
    with LibraryStore(folder) as store:
        assert store.header.places == ""
