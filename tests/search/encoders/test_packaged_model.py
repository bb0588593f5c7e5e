"""The model that comes with deixis: small, described, licensed on its own."""

import json

from deixis.search.encoders.load_encoder import PACKAGED, packaged


def test_the_packaged_model_is_whole_small_and_says_what_it_is():
    folder = packaged()
    files = {file.name for file in folder.iterdir()}
    assert {"README.md", "LICENSE.md", "bank.safetensors", "config.json", "recipe.json"} <= files
    assert sum(file.stat().st_size for file in folder.glob("*.safetensors")) <= 15e6
    card = (folder / "README.md").read_text(encoding="utf-8")
    measures = json.loads((folder / "metrics.json").read_text())["measures"]
    assert f"{measures['t2i_hit@1']:.1f} | {measures['t2i_hit@5']:.1f}" in card
    assert "## Limits" in card and "Research use only" in card
    licence = (PACKAGED / "LICENSE.md").read_text(encoding="utf-8")
    assert "not" in licence and "Apache-2.0" in licence and "Flickr8k" in licence
    assert "/" not in json.loads((folder / "recipe.json").read_text())["data"]["corpus"]
