"""Corpora without files: what from_pairs takes, keeps and refuses."""

import numpy as np
import pytest
from PIL import Image

import deixis
from deixis.errors import DataError
from deixis.features.store.image_files import open_picture
from deixis.features.trace.narration import Narration, TimedWord

RED, BLUE = ((220, 30, 30), (30, 30, 220))


def pixels(colour) -> np.ndarray:
    return np.full((20, 30, 3), colour, dtype=np.uint8)


def test_images_of_every_kind_are_opened_as_they_were_given(tmp_path):
    Image.fromarray(pixels(BLUE)).save(tmp_path / "blue.png")
    images = [pixels(RED), Image.fromarray(pixels(RED)), tmp_path / "blue.png"]
    corpus = deixis.Corpus.from_pairs(images, ["red", "red again", "blue"])
    shown = [open_picture(corpus.source(place), 20) for place in range(3)]
    assert [picture.getpixel((5, 5)) for picture in shown] == [RED, RED, BLUE]
    assert [picture.size for picture in shown] == [(30, 20)] * 3


def test_texts_splits_labels_and_narrations_belong_to_their_images():
    said = Narration("a blue wall", (TimedWord("blue", 0.0, 1.0),), ())
    corpus = deixis.Corpus.from_pairs(
        [pixels(RED), pixels(BLUE)],
        [["red", "a red wall"], said],
        splits=["train", "test"],
        labels=[["wall", "red"], ["wall"]],
    )
    assert corpus.texts == ("red", "a red wall", "a blue wall")
    assert corpus.owners.tolist() == [0, 0, 1]
    assert corpus.label_names == ("red", "wall")
    assert corpus.labels.tolist() == [[True, True], [False, True]]
    test = corpus.split("test")
    assert test.narrations[0] == said
    assert open_picture(test.source(0), 20).getpixel((0, 0)) == BLUE


def test_the_same_pixels_have_the_same_features_and_others_have_others(tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path))

    def first(colour) -> np.ndarray:
        corpus = deixis.Corpus.from_pairs([pixels(colour)] * 2, ["one", "two"])
        regions = deixis.prepare(corpus).splits["train"].regions
        return np.asarray(regions.values[: regions.offsets[1]])

    assert np.array_equal(first(RED), first(RED))
    assert not np.array_equal(first(RED), first(BLUE))


@pytest.mark.parametrize(
    ("images", "texts", "why"),
    [
        ([np.zeros((4, 4, 3))], ["x"], r"image 0 is an array of float64 with shape \(4, 4, 3\)"),
        ([np.zeros((4, 4), np.uint8)], ["x"], r"give pixels as uint8 with shape \(height, width"),
        ([pixels(RED)], ["x", "y"], "1 images but texts for 2"),
        ([pixels(RED)], [[]], "image 0 has no text"),
    ],
)
def test_what_is_no_corpus_is_refused_with_the_place(images, texts, why):
    with pytest.raises(DataError, match=why):
        deixis.Corpus.from_pairs(images, texts)


def test_a_corpus_without_a_training_split_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path))
    corpus = deixis.Corpus.from_pairs([pixels(RED)], ["x"], splits="test")
    with pytest.raises(DataError, match="has no split 'train'; it has: test"):
        deixis.prepare(corpus)
