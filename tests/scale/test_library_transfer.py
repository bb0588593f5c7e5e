"""A library that was copied through a store shows what it showed before."""

import os

import pytest
from made_pictures import make_pictures

from deixis.scale import encode_shard, index_shards
from deixis.scale.engine import LocalEngine
from deixis.scale.library_transfer import pull, push
from deixis.search.library.library_store import LibraryStore
from deixis.serve.served_library import FolderLibrary
from fake_encoder import FakeEncoder


@pytest.mark.parametrize("way", ["pushed", "indexed there"])
def test_pictures_of_a_pulled_library_are_shown(tmp_path, monkeypatch, way):
    pictures, url = make_pictures(tmp_path / "pictures", 4), str(tmp_path / "shards")
    if way == "pushed":
        with LibraryStore.open_or_create(tmp_path / "here", FakeEncoder()) as library:
            library.add([pictures], FakeEncoder())
        push(tmp_path / "here", url)
    else:
        monkeypatch.setattr(index_shards, "load_encoder", lambda model: FakeEncoder())
        monkeypatch.setattr(encode_shard, "_encoder", lambda model: FakeEncoder())
        index_shards.index_shards(str(pictures), url, LocalEngine(), per_shard=3)
    pull(url, tmp_path / "pulled")
    with LibraryStore(tmp_path / "pulled") as library:
        manifest = library.generation.manifest
        assert manifest.folders() == [str(pictures)]
        ids = [content.hash for content in manifest.live()]
    served = FolderLibrary(tmp_path / "pulled", lambda source: FakeEncoder())
    assert len([served.picture(id) for id in ids]) >= 4


def test_what_is_pushed_and_pulled_has_ordinary_modes(tmp_path):
    with LibraryStore.open_or_create(tmp_path / "here", FakeEncoder()) as library:
        library.add([make_pictures(tmp_path / "pictures", 2)], FakeEncoder())
    push(tmp_path / "here", str(tmp_path / "shards"))
    pull(str(tmp_path / "shards"), tmp_path / "pulled")
    mask = os.umask(0)
    os.umask(mask)
    for copied in (tmp_path / "shards", tmp_path / "pulled"):
        for path in (copied, *copied.rglob("[!.]*")):
            usual = 0o777 if path.is_dir() else 0o666
            assert path.stat().st_mode & 0o777 == usual & ~mask, path
