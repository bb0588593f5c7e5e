"""A cache of pixels stays below its bound; beyond it, training decodes and learns the same."""

import pytest
import torch

from deixis.errors import DataError
from deixis.features.backbones.trainable_inputs import TrainableImageInputs
from deixis.features.store.decoded_pictures import DecodedPictures
from deixis.recipes.recipe import Recipe
from deixis.training.checkpoint import read_tensors
from tiny_towers import tiny_bert, tiny_vit

RECIPE = """
[data]
size = 40
image = "tuned:{image}"
text = "tuned:{text}"
[train]
length = 3
batch = 4
crop = 0.36
[[row]]
label = "VSE∞"
method = {{name = "vse_infinity", dim = 8}}
"""


def test_decoded_pictures_train_what_cached_ones_train(tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))
    image, text = tiny_vit(tmp_path / "image"), tiny_bert(tmp_path / "text")
    path = tmp_path / "tuned.toml"
    path.write_text(RECIPE.format(image=image, text=text))
    found = {}
    for bound in ("0", "8"):
        monkeypatch.setenv("DEIXIS_PIXEL_CACHE", bound)
        Recipe.load(path).run(tmp_path / bound)
        found[bound] = read_tensors(tmp_path / bound / "tuned" / "vse-0" / "model.safetensors")[0]
        cached = list((tmp_path / "cache" / "features").glob("*/values.npy"))
        assert bool(cached) == (bound == "8")
    for name, value in found["8"].items():
        assert torch.equal(found["0"][name], value), name


def test_a_picture_that_cannot_be_decoded_is_named(tmp_path):
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    backbone = TrainableImageInputs(str(tiny_vit(tmp_path / "tower")))
    pictures = DecodedPictures.of(
        backbone, [tmp_path / "broken.jpg", tmp_path / "gone.jpg"], backbone.side**2
    )
    assert pictures.offsets.tolist() == [0, backbone.side**2, backbone.side**2]
    with pytest.raises(DataError, match="broken.jpg.*deixis data check"):
        pictures.decoded(pictures.offsets[:1])
