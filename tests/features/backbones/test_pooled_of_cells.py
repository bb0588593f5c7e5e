"""Whole-picture vectors read from extracted cells are those the networks give, bit for bit."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from deixis.data.corpus_features import image_features
from deixis.data.read_corpus import read_corpus
from deixis.features.store import extract

NAME = "lite0-int8:both+lite2-int8:both"


def silent(done: int, total: int) -> None:
    """No progress."""


def test_whole_vectors_come_from_cells_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("a", "b"):
        pixels = np.random.default_rng(ord(name)).integers(0, 255, (40, 60, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{name}.png")
    (folder / "broken.png").write_bytes(b"no picture")
    corpus = read_corpus(folder)
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "alone"))
    alone, _ = image_features(corpus, NAME, silent)
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "beside"))
    image_features(corpus, "cells-int8", silent)
    monkeypatch.setattr(extract, "image_blocks", None)  # nothing may be computed again
    beside, places = image_features(corpus, NAME, silent)
    assert len(places) == 3
    for name in ("values", "offsets", "boxes", "pooled"):
        found, wanted = getattr(beside, name), getattr(alone, name)
        assert np.array_equal(found, wanted) and found.dtype == wanted.dtype, name
