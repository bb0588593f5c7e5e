"""ResNeXt from timm's layout equals timm's own, at any input size."""

import json

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from deixis.errors import FeatureError, RecipeError
from deixis.features.backbones.backbone import image_backbone
from deixis.features.backbones.hub_access import allow_hub, only_local
from deixis.features.backbones.timm.timm_resnet import TimmResNet
from deixis.runs.data_spec import DataSpec
from tiny_towers import tiny_clip, tiny_resnext, tiny_vit

# Stages of ResNeXt-101 32x8d: blocks and width; a bottleneck here is as wide as what it gives.
WSL = ((3, 256), (4, 512), (23, 1024), (3, 2048))


@pytest.fixture
def picture(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (90, 120, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "one.png")
    return tmp_path / "one.png"


def test_the_last_map_is_that_of_timm(golden, tmp_path):
    arrays = golden("dive/timm_resnext")
    model = image_backbone(f"hf:{tiny_resnext(tmp_path / 'tower')}").tower.model
    with torch.no_grad():
        found = model(torch.from_numpy(arrays["pixels"])).last_hidden_state
    torch.testing.assert_close(found, torch.from_numpy(arrays["features"]), atol=1e-5, rtol=1e-5)


def test_another_side_gives_another_grid(tmp_path, picture):
    tower = tiny_resnext(tmp_path / "tower")
    own, large = (image_backbone(f"hf:{tower}{side}") for side in ("", "@128"))
    assert (own.side, large.side) == (48, 128)
    assert len(own([own.read(picture)]).values) == 2 * 2
    seen = large([large.read(picture)])
    assert seen.boxes.shape == (4 * 4, 5)
    assert own.identity()["preprocessing"] != large.identity()["preprocessing"]
    values = (torch.from_numpy(large.read(picture).astype(np.float32)) / 255 - 0.5) / 0.25
    with torch.no_grad():
        out = large.tower.model(values.permute(2, 0, 1)[None]).last_hidden_state[0]
    assert np.allclose(seen.values, out.flatten(1).T.numpy(), atol=1e-4), "mean and std are timm's"


@pytest.mark.parametrize("make", [tiny_vit, tiny_clip])
def test_transformers_see_other_sizes_too(tmp_path, picture, make):
    tower = image_backbone(f"hf:{make(tmp_path / 'tower')}@48")
    assert len(tower([tower.read(picture)]).values) == 6 * 6  # patches of 8 pixels


def test_the_published_resnext_has_the_known_number_of_weights():
    shapes = {"conv1.weight": (64, 3, 7, 7)}
    size = 64
    for number, (blocks, width) in enumerate(WSL, 1):
        for block in range(blocks):
            prefix = f"layer{number}.{block}."
            shapes[prefix + "conv1.weight"] = (width, size, 1, 1)
            shapes[prefix + "conv2.weight"] = (width, width // 32, 3, 3)
            shapes[prefix + "conv3.weight"] = (width, width, 1, 1)
            if block == 0:
                shapes[prefix + "downsample.0.weight"] = (width, size, 1, 1)
            size = width
    sizes = {name: torch.Size(shape) for name, shape in shapes.items()}
    with torch.device("meta"):
        model = TimmResNet(sizes)
        seen = model(torch.zeros(1, 3, 512, 512)).last_hidden_state
    assert sum(p.numel() for p in model.parameters()) == 86_742_336  # 88,791,336 with its classes
    assert seen.shape == (1, 2048, 16, 16)


@pytest.mark.parametrize("change", ["a gate more", "no third convolution", "a deep stem"])
def test_a_network_of_another_kind_is_refused(tmp_path, change):
    tower = tmp_path / "tower"
    tiny_resnext(tower)
    weights = load_file(tower / "model.safetensors")
    if change == "a gate more":
        weights["layer1.0.se.fc1.weight"] = torch.zeros(2, 2)
    elif change == "a deep stem":
        weights["conv1.0.weight"] = weights.pop("conv1.weight")
    else:
        weights = {name: tensor for name, tensor in weights.items() if "conv3" not in name}
    save_file(weights, tower / "model.safetensors")
    with pytest.raises(FeatureError, match="not a ResNet or ResNeXt of bottlenecks"):
        image_backbone(f"hf:{tower}").identity()


def test_weights_that_are_missing_are_named(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"architecture": "resnext101_32x8d"}))
    with pytest.raises(FeatureError, match=r"no model.safetensors"):
        image_backbone(f"hf:{tmp_path}").identity()


def test_the_side_is_a_key_of_recipes_for_towers_alone():
    spec = DataSpec(image="tuned:data/resnext101", side=512)
    assert spec.image == "tuned:data/resnext101@512"
    assert DataSpec(image=spec.image, side=256).image == "tuned:data/resnext101@256"
    with pytest.raises(RecipeError, match="'lite0', which has a size of its own"):
        DataSpec(side=512)
    with pytest.raises(RecipeError, match="data.side is -1"):
        DataSpec(image="tuned:x", side=-1)


def test_a_size_behind_the_name_is_no_part_of_what_is_fetched():
    allow_hub("tuned:timm/some_resnext@512")
    assert not only_local("timm/some_resnext")


def test_a_missing_folder_of_this_machine_is_no_id_of_a_hub(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FeatureError, match="there is nothing at data/resnet152; put the folder"):
        allow_hub("tuned:data/resnet152@512")
    (tmp_path / "data" / "resnet152").mkdir()
    allow_hub("tuned:data/resnet152@512")  # there now, and still no stranger's model when it goes
    assert only_local("data/resnet152")
    allow_hub("hf:elsewhere/resnet152")
    assert not only_local("elsewhere/resnet152")
