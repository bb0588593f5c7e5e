import numpy as np
import pytest
from PIL import Image

from deixis.errors import FeatureError, RecipeError
from deixis.features.backbones.backbone import image_backbone
from deixis.features.backbones.efficientnet_lite import Lite0


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures") / "a.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)).save(
        path
    )
    return path


def test_a_picture_seen_both_ways_has_the_mean_vector_and_its_own_cells(picture):
    both, lite = image_backbone("lite0:both"), Lite0()
    packed = both([both.read(picture)])
    pixels = lite.read(picture)
    plain, mirrored = lite([pixels]), lite([np.ascontiguousarray(pixels[:, ::-1])])
    assert not np.allclose(plain.pooled, mirrored.pooled, atol=1e-3)
    assert np.allclose(packed.pooled, (plain.pooled + mirrored.pooled) / 2, atol=1e-5)
    assert np.allclose(packed.values, plain.values, atol=1e-5)
    assert np.array_equal(packed.boxes, plain.boxes)


def test_joined_backbones_put_whole_vectors_side_by_side(picture):
    joined = image_backbone("lite0+lite0:both")
    assert joined.name == "lite0+lite0:both"
    packed = joined([joined.read(picture)])
    assert packed.pooled.shape == (1, 2560)
    assert np.array_equal(packed.values, packed.pooled)
    assert packed.boxes.tolist() == [[0, 1, 0, 1, 1]]
    lite, both = Lite0(), image_backbone("lite0:both")
    pixels = lite.read(picture)
    assert np.allclose(packed.pooled[0, :1280], lite([pixels]).pooled[0], atol=1e-5)
    assert np.allclose(packed.pooled[0, 1280:], both([pixels]).pooled[0], atol=1e-5)
    assert len(joined([])) == 0


def test_identities_differ_between_views_and_orders():
    names = ["lite0", "lite0:both", "lite0+lite0:both", "lite0:both+lite0"]
    found = [tuple(sorted(image_backbone(name).identity().items())) for name in names]
    assert len(set(found)) == len(names)


def test_what_has_no_whole_vector_cannot_be_joined(tmp_path):
    (tmp_path / "regions").mkdir()
    np.save(tmp_path / "regions" / "a.npy", np.ones((5, 4), np.float32))
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    joined = image_backbone("regions+lite0")
    with pytest.raises(FeatureError, match="whole-image vector"):
        joined([joined.read(tmp_path / "a.png")])
    with pytest.raises(RecipeError, match="there is no image backbone 'lite9'"):
        image_backbone("lite0+lite9")
