import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from deixis.errors import FeatureError
from deixis.features.backbones.backbone import image_backbone, text_source
from deixis.features.store.extract import extract_images, extract_texts
from tiny_towers import tiny_bert, tiny_clip, tiny_dinov2, tiny_resnet, tiny_siglip, tiny_vit

TEXTS = ["a red dog", "the boat runs on the sea", "a dog"]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    paths = [folder / f"{i}.png" for i in range(3)]
    for path in paths:
        Image.fromarray(rng.integers(0, 256, (30, 40, 3), dtype=np.uint8)).save(path)
    return paths


@pytest.mark.parametrize(
    ("make", "patches", "width", "whole"),
    [
        (tiny_clip, 9, 16, 10),
        (tiny_siglip, 9, 16, 16),
        (tiny_vit, 9, 16, 16),
        (tiny_dinov2, 9, 16, 16),
        (tiny_resnet, 36, 16, 16),
    ],
)
def test_any_vision_tower_gives_patches_and_a_whole(
    tmp_path, pictures, make, patches, width, whole
):
    backbone = image_backbone(f"hf:{make(tmp_path / 'tower')}")
    packed = backbone([backbone.read(path) for path in pictures])
    assert packed.values.shape == (3 * patches, width)
    assert packed.pooled.shape == (3, whole)
    assert packed.boxes.shape == (3 * patches, 5)
    assert np.allclose(packed.boxes[:patches, 4].sum(), 1)
    alone = backbone([backbone.read(pictures[1])])
    assert np.allclose(packed.pooled[1], alone.pooled[0], atol=1e-5)
    assert len(backbone([])) == 0


def test_patches_come_in_reading_order_and_without_the_class_place(tmp_path, pictures):
    backbone = image_backbone(f"hf:{tiny_vit(tmp_path / 'tower')}")
    pixels = backbone.read(pictures[0])
    values = torch.from_numpy((pixels.astype(np.float32) / 255 - 0.5) / 0.5).permute(2, 0, 1)
    with torch.inference_mode():
        states = backbone._model(pixel_values=values[None]).last_hidden_state[0]
    assert np.allclose(backbone([pixels]).values, states[1:].numpy(), atol=1e-5)


@pytest.mark.parametrize("make", [tiny_bert, tiny_clip, tiny_siglip])
def test_any_text_tower_gives_states_and_a_whole(tmp_path, make):
    tower = text_source(f"hf:{make(tmp_path / 'tower')}")
    backbone = tower.fit(TEXTS)
    assert backbone is tower
    packed = backbone(TEXTS)
    assert packed.offsets.tolist() == [0, 5, 13, 17]
    assert packed.values.shape == (17, 16)
    assert packed.ids[:5].tolist() == [2, 5, 6, 8, 3]
    alone = backbone([TEXTS[2]])
    assert np.allclose(packed.pooled[2], alone.pooled[0], atol=1e-5), "padding changed a text"
    assert np.allclose(packed.values[13:], alone.values, atol=1e-5)
    assert len(backbone([])) == 0


@pytest.mark.parametrize("prefix", ["hf", "tuned"])
def test_every_place_of_a_text_has_a_name(tmp_path, prefix):
    backbone = text_source(f"{prefix}:{tiny_bert(tmp_path / 'tower')}").fit([])
    names = [backbone.word(int(id)) for id in backbone(["a red dog"]).ids]
    assert names[1:-1] == ["a", "red", "dog"]


@pytest.mark.parametrize("make", [tiny_clip, tiny_siglip])
def test_a_pair_gives_both_sides_in_the_space_they_share(tmp_path, pictures, make):
    path = make(tmp_path / "tower")
    images, texts = image_backbone(f"hf:{path}"), text_source(f"hf:{path}").fit([])
    seen = images([images.read(p) for p in pictures]).pooled
    read = texts(TEXTS).pooled
    full = {"padding": "max_length", "max_length": 12, "return_tensors": "pt"}
    ids, mask = (texts.tokenizer(TEXTS, **full)[key] for key in ("input_ids", "attention_mask"))
    pixels = np.stack([images.read(p) for p in pictures]).astype(np.float32)
    values = torch.from_numpy((pixels / 255 - 0.5) / 0.5).permute(0, 3, 1, 2)
    asked = {"input_ids": ids, "pixel_values": values}
    if make is tiny_clip:
        asked["attention_mask"] = mask
    with torch.inference_mode():
        wanted = images._model(**asked)
    unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (seen, read)]
    scale = images._model.logit_scale.exp().item()
    bias = getattr(images._model, "logit_bias", torch.zeros(1)).item()
    assert np.allclose(unit[0] @ unit[1].T * scale + bias, wanted.logits_per_image, atol=1e-4)


def test_towers_go_through_the_cache_and_other_weights_are_refused(tmp_path, pictures):
    first, second = (tiny_vit(tmp_path / name) for name in "ab")
    found = extract_images(image_backbone(f"hf:{first}"), pictures, tmp_path / "cache", "c")
    assert found.values.dtype == np.float16
    with pytest.raises(FeatureError, match="holds other features"):
        extract_images(image_backbone(f"hf:{second}"), pictures, tmp_path / "cache", "c")
    texts = text_source(f"hf:{tiny_bert(tmp_path / 'c')}").fit([])
    assert len(extract_texts(texts, TEXTS, tmp_path / "texts", "c")) == 3


def test_a_tower_can_see_both_ways_and_be_joined(tmp_path, pictures):
    path = tiny_vit(tmp_path / "tower")
    plain, joined = image_backbone(f"hf:{path}"), image_backbone(f"hf:{path}+hf:{path}:both")
    whole = joined([joined.read(pictures[0])])
    assert whole.pooled.shape == (1, 32)
    pixels = plain.read(pictures[0])
    mirrored = plain([np.ascontiguousarray(pixels[:, ::-1])]).pooled[0]
    assert np.allclose(whole.pooled[0, :16], plain([pixels]).pooled[0], atol=1e-5)
    assert np.allclose(2 * whole.pooled[0, 16:] - whole.pooled[0, :16], mirrored, atol=1e-5)


def test_what_cannot_be_loaded_is_refused_with_what_would_do(tmp_path: Path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "vit"}))
    with pytest.raises(
        FeatureError, match="a folder or hub id with config.json and model.safetens"
    ):
        image_backbone(f"hf:{tmp_path}").identity()
