import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from deixis.data.read_corpus import read_corpus
from deixis.data.regions import read_regions
from deixis.data.simulated.scenes import write_scenes
from deixis.data.simulated.scenes.objects import NOUNS
from deixis.data.simulated.scenes.place_blind_reader import (
    place_blind,
    place_blind_recall,
    read_scenes,
)
from deixis.errors import DataError


def digest(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_the_seed_decides_every_byte(tmp_path: Path) -> None:
    first, again, other = (
        digest(write_scenes(tmp_path / name, images=12, seed=seed, narrations=1))
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first == again
    assert first.keys() == other.keys()
    assert all(first[name] != other[name] for name in first if name.endswith(".jpg"))


def test_a_written_corpus_is_kept_and_another_is_refused(tmp_path: Path) -> None:
    root = write_scenes(tmp_path / "scenes", images=10, seed=0, narrations=1)
    stamp = (root / "corpus.json").stat().st_mtime_ns
    write_scenes(root, images=10, seed=0, narrations=1)
    assert (root / "corpus.json").stat().st_mtime_ns == stamp
    with pytest.raises(DataError, match="holds something else"):
        write_scenes(root, images=10, seed=1, narrations=1)


def test_an_interrupted_writing_leaves_nothing(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        assert total == 10
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_scenes(tmp_path / "scenes", images=10, progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == [".scenes.lock"]  # nobody holds it


@pytest.mark.parametrize("wrong", [{"images": 3}, {"images": 10, "twin_share": 1.5}])
def test_settings_that_cannot_be_are_refused(tmp_path: Path, wrong: dict[str, float]) -> None:
    with pytest.raises(DataError):
        write_scenes(tmp_path / "scenes", **wrong)  # type: ignore[arg-type]


def test_all_or_no_images_may_be_twins(tmp_path: Path) -> None:
    none = read_corpus(write_scenes(tmp_path / "none", images=20, twin_share=0.0, narrations=0))
    assert none.twins is None
    assert len(none.narrations) == 0
    every = read_corpus(write_scenes(tmp_path / "every", images=40, twin_share=1.0, narrations=1))
    assert every.twins is not None
    assert (every.twins[:, 0] >= 0).all()


def test_the_reader_gives_back_what_was_written(scenes_root: Path) -> None:
    corpus = read_corpus(scenes_root)
    assert corpus.name == "scenes"
    assert len(corpus.files) == 100
    assert [corpus.splits.count(split) for split in ("train", "val", "test")] == [70, 10, 20]
    assert len(corpus.captions().texts) == 500
    assert len(corpus.narrated().texts) == 200
    with Image.open(corpus.path(0)) as picture:
        assert picture.size == (256, 256)
    scenes = read_scenes(scenes_root)
    assert corpus.labels is not None
    for file, row in zip(corpus.files, corpus.labels, strict=True):
        names = {name for name, true in zip(corpus.label_names, row, strict=True) if true}
        assert names == {t.noun for t in scenes[file].things} | {scenes[file].background}


def test_pairs_hold_the_owner_and_stay_within_a_split(scenes_root: Path) -> None:
    corpus = read_corpus(scenes_root)
    positives = corpus.positives()
    assert positives[corpus.owners, np.arange(len(corpus.texts))].all()
    assert positives.sum() > len(corpus.texts)
    splits = np.array(corpus.splits)
    assert (splits[corpus.pairs[:, 0]] == splits[corpus.owners[corpus.pairs[:, 1]]]).all()


def test_a_caption_that_names_only_things_fits_all_four_twins(scenes_root: Path) -> None:
    lines = (scenes_root / "train" / "metadata.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    groups = {f"train/{row['file_name']}": row["group"] for row in rows}
    listed = [
        (row, also)
        for row in rows
        for text, also in zip(row["captions"], row["also"], strict=True)
        if row["group"] >= 0 and re.match(r"(A picture of|We see) ", text)
    ]
    assert listed
    for row, also in listed:
        assert sum(groups[file] == row["group"] for file in also) == 3


def test_twin_groups_are_whole_and_in_one_split(scenes_root: Path) -> None:
    corpus = read_corpus(scenes_root)
    assert corpus.twins is not None
    groups: dict[int, list[int]] = {}
    for image, (group, _) in enumerate(corpus.twins):
        groups.setdefault(int(group), []).append(image)
    groups.pop(-1)
    assert len(groups) == 11  # of 70, 10 and 20 images half are twins: 8, 1 and 2 groups
    for images in groups.values():
        assert sorted(corpus.twins[images, 1]) == [0, 1, 2, 3]
        assert len({corpus.splits[image] for image in images}) == 1


def test_texts_are_the_weaker_classifier(scenes_root: Path) -> None:
    corpus = read_corpus(scenes_root).captions()
    assert corpus.labels is not None
    shown = corpus.labels[corpus.owners][:, : len(NOUNS)].sum(axis=1)
    said = np.array([sum(noun in text.lower() for noun in NOUNS) for text in corpus.texts])
    assert (said < shown).all()


def test_regions_follow_the_images_of_any_part_of_the_corpus(scenes_root: Path) -> None:
    corpus = read_corpus(scenes_root)
    (whole, all_places), (test, places) = read_regions(corpus), read_regions(corpus.split("test"))
    assert whole.values.dtype == np.float16
    assert len(places) == 20
    image = corpus.files.index(corpus.split("test").files[5])
    assert places[5] == all_places[image]
    assert np.array_equal(test.values, whole.values)
    assert whole.boxes is not None
    assert len(whole.boxes) == len(whole.values)


def test_a_place_blind_reader_cannot_distinguish_twins(scenes_root: Path) -> None:
    corpus = read_corpus(scenes_root).narrated()
    assert corpus.twins is not None
    fits = place_blind(corpus)
    assert fits[corpus.owners, np.arange(len(corpus.texts))].all()
    groups = corpus.twins[:, 0]
    for text, owner in enumerate(corpus.owners):
        if groups[owner] >= 0:
            assert fits[groups == groups[owner], text].all()
    twins = corpus.keep(images=groups >= 0)
    assert place_blind_recall(twins)[1] <= 0.25
    assert place_blind_recall(twins, cutoffs=[4])[4] > 0.9
