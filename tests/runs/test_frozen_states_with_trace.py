"""Pretrained word pieces bring a trace, in training and in a query."""

import torch

import deixis
from deixis.features.trace.narration import Narration, Point
from deixis.recipes.recipe import Recipe

RECIPE = """
[data]
size = 120
image = "regions"
text = "minilm-int8"
texts = "narrations"
[train]
length = 3
batch = 8
[[row]]
label = "{fusion}"
[row.method]
name = "text_trace"
dim = 16
word_dim = 8
heads = 2
query_depth = 1
image_depth = 1
fusion = "{fusion}"
"""


def test_a_run_over_frozen_states_reads_what_was_drawn(tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))
    for fusion in ("concat", "word"):
        path = tmp_path / f"{fusion}.toml"
        path.write_text(RECIPE.format(fusion=fusion))
        Recipe.load(path).run(tmp_path)
        matcher = deixis.load(tmp_path / fusion / f"{fusion}-0")
        assert matcher.config.sizes.token == 384
        assert matcher.config.sizes.vocabulary > 30_000
        left, right = (
            Narration("a red boat", (), ((Point(x, 0.5, 0.1), Point(x, 0.6, 0.9)),))
            for x in (0.1, 0.9)
        )
        drawn = matcher.encode_narration([left, right]).vectors
        assert not torch.allclose(drawn[0], drawn[1])
