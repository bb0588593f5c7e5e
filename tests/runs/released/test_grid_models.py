"""VSE∞ over grids: the CNN inside a checkpoint sees what the published code saw."""

import json

import pytest
import torch
from released_goldens import adopted, regions, same, write_list
from safetensors.torch import load_file
from whole_models import cnn_folder, whole_model

from deixis.errors import RunError
from deixis.features.backbones.backbone import image_backbone
from deixis.methods.released import Checkpoint
from deixis.methods.vse_infinity import VSEInfinity
from deixis.types import Tokens

SOURCES = ["detector", "wsl"]
# The published extractor keeps its network under three names.
PLACES = {"conv1": "base.0", "bn1": "base.1", "layer4": "top.0"} | {
    f"layer{stage}": f"base.{stage + 3}" for stage in (1, 2, 3)
}


def grid_model(golden, source):
    """A golden, and its image side with every name the published code saves."""
    name = f"vse_infinity_grid_{source}"
    model = whole_model(golden, name)
    image = model.side("img_enc.")
    for key in [key for key in image if key.startswith("backbone.resnet.")]:
        part, _, rest = key.removeprefix("backbone.resnet.").partition(".")
        if part in PLACES:
            image[f"backbone.{PLACES[part]}.{rest}"] = image[key]
    assert sorted(image) == golden(f"released/{name}")["img_enc_names"].tolist()
    return model, image


def write_grid(tmp_path, model, image, **options):
    sides = (
        {f"module.{name}": v for name, v in side.items()}
        for side in (image, model.side("txt_enc."))
    )
    options = {"precomp_enc_type": "backbone", "input_scale_factor": 0.375, **options}
    return write_list(tmp_path / "model_best.pth", *sides, **options)  # 256 × 0.375 = 96 pixels


@pytest.mark.parametrize("source", SOURCES)
def test_a_grid_model_gives_the_published_scores(golden, tmp_path, source):
    model, image = grid_model(golden, source)
    path = write_grid(tmp_path, model, image, backbone_source=source)
    folder = tmp_path / "cnn"
    matcher = adopted(tmp_path, "vse_infinity", path, words=model.words, image=f"tuned:{folder}")
    assert matcher.config.method["image"] == "grid"
    seen = matcher.model.image(regions(model.pixels()))
    text = matcher.model.text(Tokens(model.own_ids(), model.there()))
    same(seen.vectors[:, 0], model.arrays["image_embeddings"])
    same(text.vectors[:, 0], model.arrays["text_embeddings"])
    same(matcher.model.similarity(seen, text), model.arrays["scores"])


@pytest.mark.parametrize(
    ("source", "architecture", "red"),
    [
        ("detector", "caffe_resnet", 122.7717 / 255),
        ("vsepp_detector", "caffe_resnet", 122.7717 / 255),
        ("imagenet", "caffe_resnet", 0.485),
        ("vsepp_imagenet_res152", "caffe_resnet", 0.485),
        ("imagenet_resnext", "resnext101_32x8d", 0.485),
        ("vsepp_wsl", "resnext101_32x8d", 0.485),
    ],
)
def test_a_cnn_is_known_by_what_it_was_trained_for(golden, source, architecture, red):
    model, _ = grid_model(golden, "wsl")
    settings = {"backbone_source": source, "input_scale_factor": 2.0}
    read = VSEInfinity.released(Checkpoint(model.state, settings))
    assert read.shown["architecture"] == architecture
    assert (read.shown["size"], read.shown["image_mean"][0]) == (512, red)
    assert bool(read.blue_first) == ("detector" in source)


@pytest.mark.parametrize("source", SOURCES)
def test_the_folder_that_is_written_is_a_backbone_of_its_own(golden, tmp_path, source):
    model, image = grid_model(golden, source)
    path = write_grid(tmp_path, model, image, backbone_source=source)
    folder = tmp_path / "cnn"
    adopted(tmp_path, "vse_infinity", path, words=model.words, image=f"tuned:{folder}")
    backbone = image_backbone(f"hf:{folder}")
    assert backbone.side == 96
    pictures = list(model.pixels().unflatten(1, (96, 96)).byte().numpy())
    found = torch.from_numpy(backbone(pictures).values).unflatten(0, (3, 9))
    wanted = model.arrays["grid"]
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)


def test_a_second_run_reads_the_folder_that_is_there(golden, tmp_path):
    model, image = grid_model(golden, "detector")
    path = write_grid(tmp_path, model, image, backbone_source="detector")
    for run in ("one", "two"):
        (tmp_path / run).mkdir()
        tower = f"tuned:{tmp_path / 'cnn'}"
        adopted(tmp_path / run, "vse_infinity", path, words=model.words, image=tower)


def other_folder(golden, tmp_path, **change):
    """A network of the same shapes that strides or scales its pixels otherwise."""
    model, _ = grid_model(golden, "wsl")
    weights = {
        name.removeprefix("img_enc.backbone.resnet."): value
        for name, value in model.state.items()
        if "backbone.resnet." in name
    }
    folder = cnn_folder(tmp_path / "cnn", weights, "resnext101_32x8d", 96)
    config = json.loads((folder / "config.json").read_text())
    config |= {key: value for key, value in change.items() if key == "architecture"}
    config["pretrained_cfg"] |= {k: v for k, v in change.items() if k != "architecture"}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"architecture": "caffe_resnet"}, "architecture = caffe_resnet"),
        ({"mean": [0.5, 0.5, 0.5]}, "image_mean = "),
        ({"std": [0.5, 0.5, 0.5]}, "image_std = "),
    ],
)
def test_a_folder_that_says_otherwise_is_refused(golden, tmp_path, change, named):
    folder = other_folder(golden, tmp_path, **change)
    model, image = grid_model(golden, "wsl")
    path = write_grid(tmp_path, model, image, backbone_source="wsl")
    with pytest.raises(RunError, match=named):
        adopted(tmp_path, "vse_infinity", path, words=model.words, image=f"tuned:{folder}")
    assert not (tmp_path / "run").exists()


def test_a_folder_that_says_the_same_is_read_and_left_as_it_is(golden, tmp_path):
    folder = other_folder(golden, tmp_path)
    before = load_file(folder / "model.safetensors")
    model, image = grid_model(golden, "wsl")
    path = write_grid(tmp_path, model, image, backbone_source="wsl")
    matcher = adopted(tmp_path, "vse_infinity", path, words=model.words, image=f"tuned:{folder}")
    after = load_file(folder / "model.safetensors")
    assert all(after[name].equal(value) for name, value in before.items())
    same(
        matcher.model.image(regions(model.pixels())).vectors[:, 0], model.arrays["image_embeddings"]
    )


@pytest.mark.parametrize(
    ("options", "tower", "message"),
    [
        ({}, "tuned:", "backbone_source is ''"),
        ({"backbone_source": "detector"}, "", "there is a CNN inside"),
    ],
)
def test_what_a_grid_model_does_not_say_is_asked_for(golden, tmp_path, options, tower, message):
    model, image = grid_model(golden, "detector")
    path = write_grid(tmp_path, model, image, **options)
    named = f"{tower}{tmp_path / 'cnn'}" if tower else "regions"
    with pytest.raises(RunError, match=message):
        adopted(tmp_path, "vse_infinity", path, words=model.words, image=named)
    assert not (tmp_path / "cnn").exists()


@pytest.mark.parametrize("name", ["no/such", "."])
def test_a_folder_that_cannot_be_written_is_refused(golden, tmp_path, name):
    model, image = grid_model(golden, "detector")
    path = write_grid(tmp_path, model, image, backbone_source="detector")
    with pytest.raises(RunError, match="not a network in timm's layout, nor a folder"):
        tower = f"tuned:{tmp_path / name}"
        adopted(tmp_path, "vse_infinity", path, words=model.words, image=tower)
