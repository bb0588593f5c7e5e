"""Maps beside human boxes, drawn."""

import io

import numpy as np
import pytest
from PIL import Image

from deixis.evaluation.places.method_maps import DrawnPhrase, MapsResult
from deixis.features.store.boxes import grid_boxes
from deixis.pages.phrase_maps import phrase_maps_sheet


@pytest.fixture
def result():
    weights = np.zeros(9)
    weights[4] = 1.0
    drawn = DrawnPhrase(0, "a dog", "a dog", ((0.3, 0.7, 0.3, 0.7),), {"attention": weights})
    return MapsResult({}, 0.0, 0.0, 0.0, 1, 1, "", (drawn,) * 3, grid_boxes(3))


def content(chart) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(chart.content("png"))).convert("RGB"))


def test_without_pictures_no_pixel_of_them_is_drawn(result, tmp_path):
    path = tmp_path / "green.png"
    Image.new("RGB", (60, 60), (0, 255, 0)).save(path)
    green = (np.array([0, 255, 0]) == content(phrase_maps_sheet(result, [path], ""))).all(axis=2)
    assert green.any()
    bare = content(phrase_maps_sheet(result, None, ""))
    assert not (np.array([0, 255, 0]) == bare).all(axis=2).any()
    assert len(np.unique(bare.reshape(-1, 3), axis=0)) > 3
