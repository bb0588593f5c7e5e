import json
from pathlib import Path

import pytest

from deixis.errors import SearchError
from deixis.scale import encode_shard, index_shards
from deixis.scale.engine import LocalEngine
from deixis.scale.index_shards import index_shards as index
from deixis.scale.sharded_library import ShardedLibrary
from deixis.scale.store import FolderStore
from deixis.search.library.generation import Generation
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.filters import parse_filter
from fake_encoder import FakeEncoder

PER_SHARD = 4


@pytest.fixture
def encoder(monkeypatch):
    found = FakeEncoder()
    monkeypatch.setattr(index_shards, "load_encoder", lambda name: found)
    monkeypatch.setattr(encode_shard, "_encoder", lambda name: found)
    return found


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    (folder / "inner").mkdir(parents=True)
    for number in range(20):
        (folder / f"{number:02}.jpg").write_bytes(f"picture {number}".encode())
    (folder / "inner" / "bad.png").write_bytes(b"bad")
    (folder / "inner" / "twin.png").write_bytes(b"picture 3")
    (folder / "notes.txt").write_text("no picture")
    rows = [{"file_name": f"{number:02}.jpg", "label": "even"} for number in range(0, 20, 2)]
    (folder / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def run(pictures, library, **options):
    return index(str(pictures), library, LocalEngine(), per_shard=PER_SHARD, **options)


def shards(library, cache):
    """The generations that count, in order."""
    sharded = ShardedLibrary(library)
    return [Generation(sharded.fetch(one, cache)) for one in sharded.manifest().shards]


def vectors_by_path(generations):
    found = {}
    for one in generations:
        rows, contents = one.vectors(), one.manifest.contents()
        for path, entry in one.manifest.files().items():
            if entry.reason is None:
                found[path] = rows[contents[entry.hash].row].tolist()
        one.close()
    return found


def test_shards_hold_what_one_library_holds(pictures, store, tmp_path, encoder):
    report = run(pictures, store.url)
    assert report.shards > 2 and report.embedded == report.shards
    assert report.broken == {str(pictures / "inner" / "bad.png"): "no picture"}
    with LibraryStore.open_or_create(tmp_path / "library", encoder) as library:
        library.add([pictures], encoder)
        whole = vectors_by_path([library.generation])
    assert vectors_by_path(shards(store, tmp_path / "cache")) == whole
    assert report.pictures == len(set(map(tuple, whole.values()))) + 1, "a twin in another shard"


def test_labels_of_metadata_files_come_along(pictures, tmp_path, encoder):
    store = FolderStore(tmp_path / "library")
    run(pictures, store.url)
    condition = parse_filter("label:even")
    found = [one.manifest.facts.passing(condition) for one in shards(store, tmp_path / "cache")]
    assert sum(map(len, found)) == 10


def test_indexing_again_embeds_only_the_shard_that_changed(pictures, tmp_path, encoder):
    store = FolderStore(tmp_path / "library")
    first = run(pictures, store.url)
    encoder.seen.clear()
    again = run(pictures, store.url)
    assert (again.embedded, again.manifest, encoder.seen) == (0, first.manifest, [])
    (pictures / "05.jpg").write_bytes(b"another picture")
    changed = run(pictures, store.url)
    assert changed.embedded == 1 and changed.manifest != first.manifest
    (pictures / "05.jpg").unlink()
    removed = run(pictures, store.url)
    assert removed.pictures == changed.pictures - 1


class KilledError(Exception):
    """The process ends here."""


class DyingStore(FolderStore):
    """A store whose owner dies at a given write, before or after it."""

    left, after = 0, False

    def _step(self, write):
        DyingStore.left -= 1
        if DyingStore.left == 0 and not DyingStore.after:
            raise KilledError
        done = write()
        if DyingStore.left == 0:
            raise KilledError
        return done

    def write(self, name, content):
        return self._step(lambda: super(DyingStore, self).write(name, content))

    def create(self, name, content):
        return self._step(lambda: super(DyingStore, self).create(name, content))

    def swap(self, name, content, tag):
        return self._step(lambda: super(DyingStore, self).swap(name, content, tag))


@pytest.mark.parametrize("after", [False, True])
def test_killed_at_any_write_the_same_command_goes_on(
    pictures, tmp_path, encoder, monkeypatch, after
):
    for picture in sorted(pictures.glob("*.jpg"))[6:]:
        picture.unlink()
    whole = run(pictures, str(tmp_path / "whole"))
    assert whole.shards >= 2
    writes = 4 * whole.shards + 2  # three files and a job per shard, the manifest, and current
    for module in (encode_shard, index_shards):
        monkeypatch.setattr(module, "open_store", lambda url: DyingStore(Path(url)))
    DyingStore.after = after
    for step in range(1, writes + 1):
        library = str(tmp_path / f"dying-{step}")
        DyingStore.left = step
        with pytest.raises(KilledError):
            run(pictures, library)
        finished = (step - (0 if after else 1)) // 4
        DyingStore.left = -1
        report = run(pictures, library)
        assert report.manifest == whole.manifest
        assert report.embedded == whole.shards - min(finished, whole.shards)


def test_shards_collected_while_others_are_embedded_are_not_published(pictures, tmp_path, encoder):
    """Indexing may take longer than the grace period; nothing names its shards before it ends."""
    library = ShardedLibrary(FolderStore(tmp_path / "library"))
    first = run(pictures, library.store.url)
    (pictures / "05.jpg").write_bytes(b"another picture")

    def collect(done, total, repeated):
        if done == total:
            assert list(library.collect(grace=-10.0))

    with pytest.raises(SearchError, match="1 finished shards were collected .* index again"):
        run(pictures, library.store.url, on_shard=collect)
    assert library.current() == first.manifest
    assert run(pictures, library.store.url).embedded == 1


def test_other_weights_on_a_node_are_refused(pictures, tmp_path, encoder, monkeypatch):
    monkeypatch.setattr(encode_shard, "_encoder", lambda name: FakeEncoder(identity="b" * 32))
    with pytest.raises(SearchError, match="is model bbbbbbbbbbbb on .* install the same"):
        run(pictures, str(tmp_path / "library"))


def test_a_place_without_pictures_is_refused(tmp_path, encoder):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SearchError, match="there are no pictures below"):
        run(tmp_path / "empty", str(tmp_path / "library"))
