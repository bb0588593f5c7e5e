import json

import pytest
import torch
from safetensors.torch import load_file

import deixis
from deixis.encoders.encoder import Encoder
from deixis.encoders.projection import Projection
from deixis.encoders.trainable_towers import TrainableImageTower
from deixis.features.backbones.transformers_features import HFImages, HFTexts
from deixis.heads.pooling import MeanPool
from deixis.recipes.recipe import Recipe
from tiny_towers import tiny_bert, tiny_resnet, tiny_vit

RECIPE = """
title = "towers trained with the head"
paper = "dive-2023"
[data]
size = 40
image = "tuned:{image}"
text = "tuned:{text}"
[train]
length = 6
batch = 4
lr = 1e-2
crop = 0.36
schedule = "constant"
validate_every = 3
rates = {{"image.tower" = 0.5}}
frozen = {{"image.tower" = {frozen}}}
[[row]]
label = "VSE∞"
method = {{name = "vse_infinity", dim = 8}}
"""


@pytest.fixture
def trained(tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))

    def train(make_image, frozen):
        image, text = make_image(tmp_path / "image"), tiny_bert(tmp_path / "text")
        path = tmp_path / "tuned.toml"
        path.write_text(RECIPE.format(image=image, text=text, frozen=frozen))
        Recipe.load(path).run(tmp_path / "runs")
        return tmp_path / "runs" / "tuned" / "vse-0", image, text

    return train


def moved(run, tower, prefix):
    """How far each of a run's tower weights is from the pretrained one."""
    state = load_file(run / "model.safetensors")
    pairs = [(state[f"{prefix}{k}"], v) for k, v in tower.state_dict().items()]
    return {
        k: (a - b).abs().max().item() for (a, b), k in zip(pairs, tower.state_dict(), strict=True)
    }


@pytest.mark.parametrize("make", [tiny_resnet, tiny_vit])
def test_towers_learn_with_the_head_and_come_back_with_the_run(trained, tmp_path, make):
    run, image, text = trained(make, frozen=0)
    seen = moved(run, HFImages(image).tower, "image.tower.")
    read = moved(run, HFTexts(text).tower, "text.tower.")
    assert max(read.values()) > 1e-3
    assert max(change for name, change in seen.items() if "running" not in name) > 1e-3
    statistics = [change for name, change in seen.items() if "running" in name]
    assert all(change == 0 for change in statistics), "batch statistics must stay"
    matcher = deixis.load(run)
    picture = next((tmp_path / "cache" / "scenes" / "40" / "test").glob("*.jpg"))
    scores = matcher.similarity(
        matcher.encode_image([picture]), matcher.encode_text(["a red dog", "the sea"])
    )
    assert scores.isfinite().all() and scores[0, 0] != scores[0, 1]


def test_a_frozen_tower_stays_and_a_later_one_starts(trained):
    run, image, _ = trained(tiny_vit, frozen=100)
    assert max(moved(run, HFImages(image).tower, "image.tower.").values()) == 0
    log = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [record["step"] for record in log if "loss" in record] == [1, 2, 3, 4, 5, 6]


def test_batch_statistics_never_train(tmp_path):
    tower = HFImages(tiny_resnet(tmp_path / "tower")).tower
    encoder = TrainableImageTower(tower, Encoder(Projection(16, 4), MeanPool()))
    encoder.train()
    norms = [m for m in tower.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    assert norms and not any(norm.training for norm in norms)
    assert tower.training
