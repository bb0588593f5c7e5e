"""A seal vouches for manifest and header from one indexing to the next, on any disk."""

import shutil
import sqlite3

import pytest
from test_damaged_libraries import WIDTH, fake, flip, generation, search

from deixis.errors import DeixisError, SearchError
from deixis.search.library.library_store import LibraryStore
from deixis.search.library.seal import SEAL
from deixis.search.library.verification import verify
from fake_encoder import FakeEncoder


def overwrite(path, place):
    """Change a byte as a program would do it: the file's time changes, too."""
    content = bytearray(path.read_bytes())
    content[place] ^= 0x10
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["manifest.sqlite", "header.json"])
@pytest.mark.parametrize("copied", [False, True])
def test_damage_is_found_whatever_the_time_of_the_file_says(library, tmp_path, name, copied):
    if copied:
        shutil.copytree(library, tmp_path / "copy", copy_function=shutil.copyfile)
        library = tmp_path / "copy"
        assert not verify(library).damages
    overwrite(generation(library) / name, 30)
    assert [damage.file for damage in verify(library).damages] == [name]


def test_the_seal_is_broken_while_files_are_written_and_set_again(library):
    sealed = generation(library) / SEAL
    with LibraryStore(library) as opened:
        with opened.writing():
            assert not sealed.exists()
            found = verify(library)
            assert (found.compared, found.damages) == (40, ())
        assert sealed.exists()
        with pytest.raises(SearchError, match="does not exist"):
            opened.add([library / "nowhere"], FakeEncoder())
        assert sealed.exists()
    assert not verify(library).notes


def test_a_killed_indexer_leaves_no_seal_that_is_wrong(library, monkeypatch):
    pictures = library.parent / "pictures"
    (pictures / "00.png").rename(pictures / "renamed.png")
    monkeypatch.setattr(LibraryStore, "_seal", lambda self: None)
    with LibraryStore(library) as opened:
        opened.add([pictures], FakeEncoder())
    found = verify(library)
    assert (found.damages, len(found.notes)) == ((), 1)


def test_reading_changes_nothing_that_is_sealed(library):
    with LibraryStore(library) as reader:
        search(library)
        assert reader.is_current()
        assert not verify(library).damages
    assert not verify(library).damages


def test_the_manifest_of_an_older_deixis_is_brought_up_to_date_and_not_called_damaged(library):
    with sqlite3.connect(generation(library) / "manifest.sqlite") as db:
        db.execute("DROP TABLE shot")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    LibraryStore(library).close()
    assert not verify(library).damages


def test_a_header_with_another_length_costs_no_vectors(library):
    header = generation(library) / "header.json"
    before = header.read_text()
    header.write_text(before.replace('"dim": 8', '"dim": 4'))
    assert verify(library, fake).damages[0].repaired
    assert header.read_text() == before
    (generation(library) / SEAL).unlink()
    header.write_text(before.replace('"dim": 8', '"dim": 4'))
    with pytest.raises(SearchError, match=r"header.json is damaged: it says that vectors have 4"):
        verify(library, fake)
    header.write_text(before)
    assert (verify(library).compared, verify(library).damages) == (40, ())


@pytest.mark.parametrize("content", [b"not a database at all" * 500, b""])
@pytest.mark.parametrize("sealed", [False, True])
def test_a_manifest_of_garbage_is_a_damaged_range(library, content, sealed):
    manifest = generation(library) / "manifest.sqlite"
    manifest.write_bytes(content)
    if not sealed:
        (generation(library) / SEAL).unlink()
    with pytest.raises(SearchError, match=r"manifest.sqlite (cannot be read|is empty)"):
        search(library)
    for load in (None, fake):
        found = verify(library, load)
        assert {damage.file for damage in found.damages} == {"manifest.sqlite"}
        assert found.damages[0].start == 0
        assert found.needs_attention
    assert manifest.read_bytes() == content


def test_a_header_that_cannot_be_read_is_reported_without_a_seal_too(library):
    (generation(library) / SEAL).unlink()
    (generation(library) / "header.json").write_text("{")
    (damage,) = verify(library).damages
    assert (damage.file, damage.start, damage.end) == ("header.json", 0, 1)


def test_vectors_are_encoded_anew_by_the_one_writer(library):
    flip(generation(library) / "vectors.f32", 3 * WIDTH)
    refused = pytest.raises(DeixisError, match="is being written by process")
    with LibraryStore(library) as other, other.writing(), refused:
        verify(library, fake)
    assert verify(library, fake).damages[0].repaired
