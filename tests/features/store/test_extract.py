import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from deixis.errors import FeatureError
from deixis.features.store import extract
from deixis.features.store import feature_cache as cache
from deixis.features.store.extract import extract_images, extract_texts
from deixis.features.store.feature_cache import read_manifest
from deixis.features.store.image_files import open_square
from deixis.features.store.packed import PackedRegions, offsets_of
from deixis.features.words.vocabulary import Vocabulary


@dataclass(frozen=True)
class Corners:
    """A backbone for tests: the first 1 to 4 pixels of a picture are its regions."""

    weights: str = "w"
    pause: float = 0.0
    name = "corners"

    def identity(self):
        return {"weights": self.weights, "preprocessing": "p"}

    def read(self, path):
        return open_square(path, 2).reshape(4, 3)

    def __call__(self, pictures):
        time.sleep(self.pause)
        counts = [1 + int(pixels[0, 0]) % 4 for pixels in pictures]
        rows = [pixels[:count] / 255 for pixels, count in zip(pictures, counts, strict=True)]
        values = np.concatenate([np.zeros((0, 3)), *rows]).astype(np.float32)
        pooled = np.array([p.mean(0) / 255 for p in pictures], np.float32).reshape(-1, 3)
        return PackedRegions(values, offsets_of(counts), np.zeros((len(values), 5)), pooled)


def draw(folder, count=10, broken=(2, 3)):
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    paths = [folder / f"{index:03}.png" for index in range(count)]
    for index, path in enumerate(paths):
        Image.fromarray(rng.integers(0, 256, (2, 2, 3), dtype=np.uint8)).save(path)
        if index in broken:
            path.write_text("not a picture")
    return paths


def content(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(extract, "IMAGES", 3)
    monkeypatch.setattr(extract, "TEXTS", 2)


def test_pictures_come_back_in_order_as_float16(tmp_path):
    paths = draw(tmp_path / "pictures", broken=())
    found = extract_images(Corners(), paths, tmp_path / "cache", "c")
    wanted = Corners()([Corners().read(path) for path in paths])
    assert isinstance(found.values, np.memmap)
    assert found.values.dtype == np.float16
    assert np.array_equal(found.offsets, wanted.offsets)
    assert np.array_equal(found.values, wanted.values.astype(np.float16))
    assert np.array_equal(found.pooled, wanted.pooled)
    assert found.boxes.shape == (len(found.values), 5)


def test_a_broken_picture_has_no_rows_and_a_reason(tmp_path):
    paths = draw(tmp_path / "pictures")
    found = extract_images(Corners(), paths, tmp_path / "cache", "c")
    counts = np.diff(found.offsets)
    assert counts[2] == counts[3] == 0
    assert np.count_nonzero(counts) == 8
    assert not found.pooled[2:4].any()
    manifest = read_manifest(tmp_path / "cache")
    assert manifest["outcomes"] == {"ok": 8, "broken": 2}
    assert "002.png: not a picture" in manifest["broken"]["2"]


@pytest.mark.parametrize("broken", [range(3), range(10)])
def test_a_block_of_broken_pictures_does_not_stop_the_run(tmp_path, broken):
    paths = draw(tmp_path / "pictures", broken=broken)
    found = extract_images(Corners(), paths, tmp_path / "cache", "c")
    assert len(found) == 10
    assert np.count_nonzero(np.diff(found.offsets)) == 10 - len(broken)


def test_a_corpus_without_pictures_has_empty_features(tmp_path):
    found = extract_images(Corners(), [], tmp_path / "cache", "c")
    assert len(found) == 0
    assert found.values.shape == (0, 3)


def test_progress_is_reported_after_each_block(tmp_path):
    reported = []
    extract_images(
        Corners(),
        draw(tmp_path / "pictures"),
        tmp_path / "cache",
        "c",
        lambda *now: reported.append(now),
    )
    assert reported == [(3, 10), (6, 10), (9, 10), (10, 10)]


def test_a_finished_cache_is_not_computed_again(tmp_path, monkeypatch):
    paths = draw(tmp_path / "pictures")
    first = extract_images(Corners(), paths, tmp_path / "cache", "c")

    def refuse(self, pictures):
        raise AssertionError("the features are there already")

    monkeypatch.setattr(Corners, "__call__", refuse)
    again = extract_images(Corners(), paths, tmp_path / "cache", "c")
    assert np.array_equal(first.values, again.values)


def test_texts_come_back_in_order(tmp_path):
    texts = ["a dog", "", "a cat and a dog", "b", "c"]
    vocabulary = Vocabulary.count(texts)
    found = extract_texts(vocabulary, texts, tmp_path, "c")
    assert np.array_equal(found.ids, vocabulary(texts).ids)
    assert np.array_equal(found.offsets, vocabulary(texts).offsets)


@pytest.mark.parametrize(
    ("backbone", "corpus", "reason"),
    [
        (Corners("other"), "c", "weights is 'w', wanted 'other'"),
        (Corners(), "d", "corpus is 'c', wanted 'd'"),
    ],
)
def test_other_features_are_refused_with_the_reason(tmp_path, backbone, corpus, reason):
    paths = draw(tmp_path / "pictures")
    extract_images(Corners(), paths, tmp_path / "cache", "c")
    with pytest.raises(FeatureError, match=reason):
        extract_images(backbone, paths, tmp_path / "cache", corpus)


class CrashError(Exception):
    pass


def crash_at(monkeypatch, moment):
    """Let the write of that number die half-way: some of its bytes are there, none are sure."""
    left, sync, replace = [moment], cache._sync, os.replace

    def count():
        left[0] -= 1
        if left[0] < 0:
            raise CrashError

    def dying_sync(file):
        if left[0] == 0 and file.mode == "ab":
            file.flush()
            os.truncate(file.name, os.path.getsize(file.name) - 1)
        count()
        sync(file)

    def dying_replace(*paths):
        count()
        replace(*paths)

    monkeypatch.setattr(cache, "_sync", dying_sync)
    monkeypatch.setattr(os, "replace", dying_replace)


def test_a_crash_at_any_write_leaves_a_run_that_goes_on_to_the_same_bytes(tmp_path):
    paths = draw(tmp_path / "pictures", count=7)
    extract_images(Corners(), paths, tmp_path / "whole", "c")
    crashes = 0
    for moment in range(100):
        folder = tmp_path / f"crashed{moment}"
        try:
            with pytest.MonkeyPatch.context() as patch:
                crash_at(patch, moment)
                extract_images(Corners(), paths, folder, "c")
            break
        except CrashError:
            crashes += 1
        extract_images(Corners(), paths, folder, "c")
        assert content(folder) == content(tmp_path / "whole"), moment
    assert crashes == 21  # journal; 3 blocks of 4 syncs; 3 headers and renames; offsets, manifest


def test_an_interrupted_run_of_another_corpus_is_refused(tmp_path):
    paths = draw(tmp_path / "pictures")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(CrashError):
        crash_at(patch, 7)
        extract_images(Corners(), paths, tmp_path / "cache", "c")
    with pytest.raises(FeatureError, match="corpus is 'c', wanted 'd'"):
        extract_images(Corners(), paths, tmp_path / "cache", "d")


def test_lost_rows_are_noticed(tmp_path):
    paths = draw(tmp_path / "pictures")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(CrashError):
        crash_at(patch, 7)
        extract_images(Corners(), paths, tmp_path / "cache", "c")
    os.truncate(tmp_path / "cache" / "values.partial", 130)
    with pytest.raises(FeatureError, match="lost rows"):
        extract_images(Corners(), paths, tmp_path / "cache", "c")


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_extract as t
t.extract.IMAGES = 3
paths = sorted(Path(sys.argv[2]).iterdir())
t.extract_images(t.Corners(pause=0.01), paths, Path(sys.argv[3]), "c")
"""


@pytest.mark.slow
def test_killed_again_and_again_the_result_is_the_same_bytes(tmp_path):
    paths = draw(tmp_path / "pictures", count=150)
    extract_images(Corners(), paths, tmp_path / "whole", "c")
    arguments = [str(Path(__file__).parent), str(tmp_path / "pictures"), str(tmp_path / "killed")]
    journal, kills, rng = tmp_path / "killed" / "journal.jsonl", 0, random.Random(0)
    while not (tmp_path / "killed" / "manifest.json").exists():
        before = journal.stat().st_size if journal.exists() else 0
        child = subprocess.Popen([sys.executable, "-c", CHILD, *arguments])
        while child.poll() is None and not (journal.exists() and journal.stat().st_size > before):
            time.sleep(0.005)
        time.sleep(rng.random() * 0.1)
        child.send_signal(signal.SIGKILL)
        assert child.wait() in (0, -signal.SIGKILL), "it ends by itself only when all is written"
        kills += child.returncode == -signal.SIGKILL
    assert kills >= 3
    extract_images(Corners(), paths, tmp_path / "killed", "c")
    assert content(tmp_path / "killed") == content(tmp_path / "whole")


def test_the_manifest_describes_the_cache(tmp_path):
    extract_images(Corners(), draw(tmp_path / "pictures"), tmp_path / "cache", "c")
    manifest = json.loads((tmp_path / "cache" / "manifest.json").read_text())
    kept = {key: manifest[key] for key in ("kind", "backbone", "weights", "corpus", "items")}
    assert kept == dict(kind="regions", backbone="corners", weights="w", corpus="c", items=10)
