import json

import numpy as np
import pytest

from deixis.recipes.recipe import Recipe

RECIPE = """
title = "from arrays alone"
paper = "scan-2018"
[data]
corpus = "{corpus}"
image = "regions"
[train]
length = 30
batch = 8
lr = 1e-2
schedule = "constant"
validate_every = 30
[[row]]
label = "VSE++"
method = {{name = "vsepp", dim = 16, word_dim = 8, warmup = 30}}
"""


@pytest.fixture
def arrays(tmp_path):
    """Images whose regions and texts name the same colours; dev and test rows stand five times."""
    random = np.random.default_rng(0)
    vectors, names = random.normal(size=(6, 10)).astype(np.float32), ["a", "b", "c", "d", "e", "f"]
    for split, images in (("train", 40), ("dev", 8), ("test", 8)):
        topics = [random.choice(6, 3, replace=False) for _ in range(images)]
        regions = np.stack([vectors[topic] for topic in topics])
        np.save(
            tmp_path / f"{split}_ims.npy", regions if split == "train" else regions.repeat(5, 0)
        )
        lines = [
            " ".join(names[t] for t in random.permutation(topic))
            for topic in topics
            for _ in range(5)
        ]
        (tmp_path / f"{split}_caps.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_recipe_trains_on_precomputed_arrays_where_they_lie(arrays, tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))
    recipe = tmp_path / "arrays.toml"
    recipe.write_text(RECIPE.format(corpus=arrays))
    report = Recipe.load(recipe).run(tmp_path / "runs")
    by_chance, trained = (line.seeds[0]["rsum"] for line in report.lines[:2])
    assert trained > by_chance + 40
    metrics = json.loads((tmp_path / "runs/arrays/vse++-0/metrics.json").read_text())
    assert metrics["gallery"] == {"i2t": 40, "t2i": 8}
    assert not (tmp_path / "cache" / "features").exists(), "features were copied"
