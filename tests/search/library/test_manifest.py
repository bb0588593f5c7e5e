"""What an indexing asks of the manifest: as much as it looks at, however large the library is."""

import pytest

from deixis.search.library.library_store import LibraryStore
from deixis.search.library.manifest import ContentRows, FileEntry, Manifest
from fake_encoder import FakeEncoder

PATHS = (
    "/p/a.jpg",
    "/p/a/1.jpg",
    "/p/a/b/2.jpg",
    "/p/a/é.jpg",
    "/p/a-b/3.jpg",
    "/p/a0.jpg",
    "/p/A/4.jpg",
)


@pytest.fixture
def manifest(tmp_path):
    found = Manifest(tmp_path / "manifest.sqlite")
    with found.writing():
        found.add_files(FileEntry(path, 1, 1, path) for path in PATHS)
    yield found
    found.close()


@pytest.mark.parametrize(
    ("places", "wanted"),
    [
        (["/p/a"], {"/p/a/1.jpg", "/p/a/b/2.jpg", "/p/a/é.jpg"}),
        (["/p/a/b", "/p/a"], {"/p/a/1.jpg", "/p/a/b/2.jpg", "/p/a/é.jpg"}),
        (["/p/a.jpg", "/p/a-b"], {"/p/a.jpg", "/p/a-b/3.jpg"}),
        (["/"], {*PATHS}),
        (["/q", "/p/\udcff"], set()),
        ([], set()),
    ],
)
def test_files_below_some_places(manifest, places, wanted):
    found = manifest.files_below(places)
    assert found.keys() == wanted
    assert all(entry == FileEntry(path, 1, 1, path) for path, entry in found.items())


def test_rows_of_sound_files_alone_are_live(manifest):
    names = [f"{number}" for number in range(3)]
    with manifest.writing():
        manifest.add_contents(ContentRows(name, 5 * int(name), 5) for name in names)
        manifest.add_files([FileEntry("/x", 1, 1, "0"), FileEntry("/y", 1, 1, "1", "broken")])
    assert manifest.stored() == {*names}
    assert manifest.live_parts() == 5


def test_adding_to_a_library_reads_only_what_is_known_of_the_folder(tmp_path, monkeypatch):
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.jpg").write_bytes(b"picture " + folder.encode())
    encoder = FakeEncoder()
    with LibraryStore.open_or_create(tmp_path / "library", encoder) as store:
        store.add([tmp_path / "old"], encoder)
        for everything in ("files", "contents", "live"):
            monkeypatch.setattr(Manifest, everything, lambda self: pytest.fail("reads everything"))
        assert store.add([tmp_path / "new"], encoder).counts == {"added": 1}
        assert store.add([tmp_path / "old"], encoder).counts == {"unchanged": 1}
