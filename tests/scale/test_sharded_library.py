from dataclasses import replace

import pytest

from deixis.errors import SearchError
from deixis.scale.sharded_library import Shard, ShardedLibrary, ShardedManifest, hash_of, name_of

CONTENT = {"header.json": b"{}", "vectors.f32": b"one"}


def shard(tmp_path, name="one"):
    folder = tmp_path / name
    folder.mkdir()
    contents = {**CONTENT, "vectors.f32": name.encode()}
    for file, content in contents.items():
        (folder / file).write_bytes(content)
    files = {file: hash_of(content) for file, content in contents.items()}
    return folder, Shard(name_of(files), 1, 1, files, (("b.jpg", "broken"),))


def manifest(*shards):
    return ShardedManifest("model", "deixis:photos", 4, shards)


def test_what_is_published_is_read_back_and_fetched(store, tmp_path):
    library = ShardedLibrary(store)
    folder, one = shard(tmp_path)
    library.add_shard(folder, one)
    assert library.current() is None
    library.publish(manifest(one))
    read = ShardedLibrary(store).manifest()
    assert read == manifest(one) and read.pictures == 1
    fetched = library.fetch(read.shards[0], tmp_path / "cache")
    assert {file.name: file.read_bytes() for file in fetched.iterdir()} == CONTENT
    assert library.fetch(one, tmp_path / "cache") == fetched


def test_of_two_writers_the_one_that_saw_less_is_refused(store):
    first, second = ShardedLibrary(store), ShardedLibrary(store)
    first.publish(manifest())
    with pytest.raises(SearchError, match="another writer changed"):
        second.publish(replace(manifest(), dim=5))
    second.current()
    second.publish(replace(manifest(), dim=5))
    with pytest.raises(SearchError, match="another writer changed"):
        first.publish(replace(manifest(), dim=6))
    assert ShardedLibrary(store).manifest().dim == 5


def test_a_damaged_shard_or_manifest_is_refused(store, tmp_path):
    library = ShardedLibrary(store)
    folder, one = shard(tmp_path)
    library.add_shard(folder, one)
    store.write(f"shards/{one.id}/vectors.f32", b"onx")
    with pytest.raises(SearchError, match=rf"vectors.f32 of shard {one.id} is damaged"):
        library.fetch(one, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []
    library.publish(manifest(one))
    store.write(f"manifests/{library.current()}.json", manifest().content())
    with pytest.raises(SearchError, match="is damaged"):
        library.manifest()


def test_a_job_done_twice_has_the_first_result(store, tmp_path):
    library = ShardedLibrary(store)
    (_, one), (_, two) = shard(tmp_path), shard(tmp_path, "two")
    assert library.finished("key") is None
    assert library.finish("key", one) == one
    assert library.finish("key", two) == one


def test_only_what_nothing_names_is_collected_and_only_after_the_grace_period(store, tmp_path):
    library = ShardedLibrary(store)
    (kept_folder, kept), (old_folder, old) = shard(tmp_path, "kept"), shard(tmp_path, "old")
    for folder, one in ((kept_folder, kept), (old_folder, old)):
        library.add_shard(folder, one)
        library.finish(f"job-{folder.name}", one)
    library.publish(manifest(old))
    library.current()
    library.publish(manifest(kept))
    assert list(library.collect(grace=3600.0)) == []
    gone = set(library.collect(grace=-10.0))
    lost = {f"shards/{old.id}/header.json", f"shards/{old.id}/vectors.f32", "jobs/job-old.json"}
    assert lost <= gone
    assert len(gone) == 4, "and the manifest that does not count"
    assert library.manifest() == manifest(kept)
    library.fetch(kept, tmp_path / "cache")
