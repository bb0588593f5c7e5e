import base64

import numpy as np
import pytest

from deixis.errors import DataError
from deixis.features.backbones.backbone import image_backbone
from deixis.features.backbones.detections import choose_regions
from deixis.features.store.extract import extract_images


@pytest.mark.parametrize("highest", [1.0, 0.6])
def test_the_best_36_are_kept_however_many_are_above_a_half(highest):
    scores = np.linspace(0, highest, 100)
    assert choose_regions(scores).tolist() == list(range(99, 63, -1))


def encoded(array):
    return base64.b64encode(np.asarray(array, "<f4").tobytes()).decode()


def table_line(image, features, boxes, width=100, height=50):
    cells = [image, width, height, len(boxes), encoded(boxes), encoded(features)]
    return "\t".join(map(str, cells)) + "\n"


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "regions").mkdir()
    rng = np.random.default_rng(0)
    features = [rng.random((count, 6), np.float32) for count in (3, 2)]
    corners = np.array([[0, 0, 50, 25], [10, 0, 200, 50], [0, 0, 1, 1]], np.float32)
    lines = [table_line(42, features[0], corners), table_line(7, features[1], corners[:2])]
    (tmp_path / "regions" / "a.tsv").write_text(lines[0])
    (tmp_path / "regions" / "b.tsv").write_text(lines[1])
    return tmp_path, features


def test_bottom_up_tables_are_found_by_number(tables):
    root, features = tables
    backbone = image_backbone("regions")
    paths = [root / "COCO_val2014_000000000042.jpg", root / "000000000007.jpg"]
    packed = backbone([backbone.read(path) for path in paths])
    assert packed.offsets.tolist() == [0, 3, 5]
    assert np.array_equal(packed.values, np.concatenate(features))
    assert np.allclose(packed.boxes[:2], [[0, 0.5, 0, 0.5, 0.25], [0.1, 1, 0, 1, 0.9]])


def test_tables_go_through_the_cache_with_an_outcome_each(tables):
    root, features = tables
    paths = [root / "7.jpg", root / "8.jpg", root / "42.jpg"]
    found = extract_images(image_backbone("regions"), paths, root / "cache", "c")
    assert found.offsets.tolist() == [0, 2, 2, 5]
    assert np.allclose(found.values[:2], features[1], atol=1e-3)
    with pytest.raises(DataError, match="no table of regions has a line for 8.jpg"):
        image_backbone("regions").read(paths[1])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("7\t1\t2\n", "a.tsv:1: 3 columns; wanted image_id"),
        ("7\t100\t50\t2\tAAAA\tAAAA\n", "a.tsv:1: not a line of regions"),
        (table_line(7, [[np.nan]], [[0, 0, 1, 1]]), "a.tsv:1: a feature is NaN"),
    ],
)
def test_a_broken_line_of_a_table_is_named(tmp_path, line, message):
    (tmp_path / "regions").mkdir()
    (tmp_path / "regions" / "a.tsv").write_text(line)
    with pytest.raises(DataError, match=message):
        image_backbone("regions").read(tmp_path / "7.jpg")


def test_a_detectors_output_is_cut_by_score_and_made_relative(tmp_path):
    rng = np.random.default_rng(0)
    features, scores = rng.random((50, 4), np.float32), np.linspace(0.9, 0.1, 50)
    boxes = np.tile(np.array([[0, 0, 20, 10]], np.float32), (50, 1))
    (tmp_path / "regions" / "train").mkdir(parents=True)
    target = tmp_path / "regions" / "train" / "a.npz"
    np.savez(target, features=features, scores=scores, boxes=boxes, width=40, height=10)
    found = image_backbone("regions").read(tmp_path / "train" / "a.jpg")
    assert np.array_equal(found.values, features[:36])
    assert np.allclose(found.boxes[0], [0, 0.5, 0, 1, 0.5])


def test_features_alone_may_lie_in_an_npy(tmp_path):
    (tmp_path / "regions").mkdir()
    np.save(tmp_path / "regions" / "a.npy", np.ones((5, 4), np.float32))
    backbone = image_backbone("regions")
    packed = backbone([backbone.read(tmp_path / "a.jpg")])
    assert (packed.values.shape, packed.boxes) == ((5, 4), None)
    with pytest.raises(DataError, match=r"b.npz: there is no such file, nor an .npy"):
        backbone.read(tmp_path / "b.jpg")
