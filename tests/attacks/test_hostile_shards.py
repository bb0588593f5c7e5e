"""A sharded library from elsewhere is data: none of its names leads out of its folder."""

import shutil
from dataclasses import replace

import pytest

from deixis.errors import SearchError
from deixis.scale.library_transfer import join_shards, pull, push
from deixis.scale.sharded_library import ShardedLibrary, hash_of, name_of
from deixis.scale.store import FolderStore


@pytest.fixture
def sharded(tmp_path, library):
    """A pushed library, to whose folder an attacker may write."""
    push(library, str(tmp_path / "shards"))
    return ShardedLibrary(FolderStore(tmp_path / "shards"))


@pytest.fixture
def victim(tmp_path, library):
    """Somebody's own library, which no other may touch."""
    shutil.copytree(library, tmp_path / "victim")
    return tmp_path / "victim"


def contents(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def forge(sharded, manifest, **changed):
    """Make a manifest count in which the shard says something else."""
    (shard,) = manifest.shards
    forged = replace(manifest, shards=(replace(shard, **changed),))
    sharded.store.write(f"manifests/{forged.name}.json", forged.content())
    sharded.store.write("current", forged.name.encode())
    return forged


def test_a_shard_named_by_a_path_removes_nothing(sharded, victim, tmp_path):
    before, manifest = contents(victim), sharded.manifest()
    for id in (str(victim / "generation-1"), "../../victim", "..", "", "0" * 32):
        forge(sharded, manifest, id=id)
        with pytest.raises(SearchError, match="is not the name of the files"):
            pull(sharded.store.url, tmp_path / "pulled")
        assert contents(victim) == before
    assert not (tmp_path / "pulled").exists()


@pytest.mark.parametrize("name", ["{victim}/current", "../../victim/current", "cells-/../x.i8"])
def test_a_file_named_by_a_path_overwrites_nothing(sharded, victim, tmp_path, name):
    before, manifest = contents(victim), sharded.manifest()
    files = {**manifest.shards[0].files, name.format(victim=victim): hash_of(b"generation-2\n")}
    forge(sharded, manifest, id=name_of(files), files=files)
    with pytest.raises(SearchError, match="a shard has no file"):
        pull(sharded.store.url, tmp_path / "pulled")
    assert contents(victim) == before


def test_only_what_was_copied_here_is_removed_after_joining(sharded, victim, tmp_path):
    """Even a name that nobody checked."""
    before, manifest = contents(victim), sharded.manifest()
    forged = replace(manifest.shards[0], id=str(victim / "generation-1"))
    join_shards(sharded, manifest, [forged], tmp_path / "pulled")
    assert contents(victim) == before


@pytest.mark.parametrize("name", ["../../victim/current", "/etc/passwd", "a" * 31, ""])
def test_what_counts_is_named_by_a_hash_and_by_nothing_else(sharded, victim, tmp_path, name):
    sharded.store.write("current", name.encode())
    with pytest.raises(SearchError, match="current is damaged"):
        pull(sharded.store.url, tmp_path / "pulled")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"format": 2}',
        b'{"format": 1, "model": "m", "source": "s", "dim": "4", "shards": []}',
        b'{"format": 1, "model": "m", "source": "s", "dim": 4, "shards": [5]}',
        b'{"format": 1, "model": "m", "source": "s", "dim": 4, "shards": [{"id": "x"}]}',
        b'{"format": 1, "model": "m", "source": "s", "dim": 4, "shards": [{"files": {"x": 1}}]}',
    ],
    ids=range(11),
)
def test_whatever_a_manifest_holds_the_answer_is_a_sentence(sharded, tmp_path, content):
    sharded.store.write(f"manifests/{hash_of(content)}.json", content)
    sharded.store.write("current", hash_of(content).encode())
    for act in (lambda: pull(sharded.store.url, tmp_path / "pulled"), sharded.manifest):
        with pytest.raises(SearchError, match="manifest .* cannot be read"):
            act()
    with pytest.raises(SearchError, match="cannot be read"):
        list(sharded.collect(grace=-10.0))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"id": "../x"}', b"[" * 100_000])
def test_a_damaged_job_was_never_done(sharded, content):
    (shard,) = sharded.manifest().shards
    sharded.store.write("jobs/key.json", content)
    assert sharded.finished("key") is None
    assert sharded.finish("key", shard) == shard
    assert sharded.finished("key") == shard
    sharded.store.write("jobs/other.json", content)
    assert set(sharded.collect(grace=-10.0)) == {"jobs/other.json"}
