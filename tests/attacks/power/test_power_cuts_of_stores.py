"""A power cut while features are extracted or pictures indexed costs nothing that was reported."""

import random
import shutil

import numpy as np
import pytest
from made_library import made_library
from power_cut_disk import PowerCutDisk, mounted, new_image

from deixis.features.store.feature_cache import CacheWriter, open_cache
from deixis.features.store.packed import PackedRegions
from deixis.search.library.library_store import LibraryStore
from deixis.search.library.verification import verify
from fake_encoder import FakeEncoder

BLOCKS = 5
WANTED = {"kind": "regions", "backbone": "made", "corpus": "x", "items": 2 * BLOCKS}
ARRAYS = ("values.npy", "boxes.npy", "offsets.npy", "manifest.json")


def extract(folder) -> None:
    """Write a cache to its end, from where it stands."""
    writer = CacheWriter(folder, WANTED)
    for block in range(writer.done // 2, BLOCKS):
        values = np.full((3, 4), block, np.float16)
        boxes = np.full((3, 5), block, np.float32)
        writer.append(PackedRegions(values, np.array([0, 1, 3]), boxes), {})
    writer.finish()


@pytest.mark.parametrize("kind", ["strict", "eager", "torn"])
def test_20_of_20_power_cuts_leave_a_cache_that_ends_the_same(tmp_path, kind):
    moments, chosen = [0], set(range(10_000))

    def cut(disk):
        if moments[0] in chosen:
            disk.write_down(tmp_path / kind / str(moments[0]), kind, moments[0])
        moments[0] += 1

    for name in ("counted", "cut"):
        shutil.rmtree(tmp_path / kind, ignore_errors=True)
        (tmp_path / name / "cache").mkdir(parents=True)
        disk = PowerCutDisk(tmp_path / name, cut)
        disk._names[tmp_path / name] = {"cache": 0}  # the folder itself is there before
        with disk.watching():
            extract(tmp_path / name / "cache")
        chosen = set(random.Random(kind).sample(range(moments[0]), 20))
        moments[0] = 0
    cuts = sorted((tmp_path / kind).iterdir())
    assert len(cuts) == 20
    for folder in cuts:
        (folder / "cache").mkdir(exist_ok=True)
        if not (folder / "cache" / "manifest.json").is_file():
            extract(folder / "cache")
        open_cache(folder / "cache", WANTED)
        for name in ARRAYS:
            wanted = (tmp_path / "cut" / "cache" / name).read_bytes()
            assert (folder / "cache" / name).read_bytes() == wanted, (folder.name, name)


def test_every_picture_reported_as_indexed_is_in_a_copy_of_the_disk(tmp_path):
    """On a real ext4, because SQLite syncs its files by itself."""
    image, disk = tmp_path / "disk.ext4", tmp_path / "disk"
    reported, copies = [], {}

    def report(outcome, done, total):
        reported.append(outcome.path)
        if done in (1, 7, 16, 17, 30, 40):
            copies[done] = tmp_path / f"{done}.ext4", set(reported)
            shutil.copy(image, copies[done][0])

    made_library(tmp_path)
    with (
        mounted(new_image(image), disk),
        LibraryStore.open_or_create(disk / "library", FakeEncoder()) as opened,
    ):
        opened.add([tmp_path / "pictures"], FakeEncoder(), report)
    assert len(copies) == 6
    for copy, safe in copies.values():
        with mounted(copy, disk):
            assert not verify(disk / "library").damages
            with LibraryStore(disk / "library") as opened:
                assert safe <= set(opened.generation.manifest.files())
                opened.add([tmp_path / "pictures"], FakeEncoder())
            assert verify(disk / "library").pictures == 40
