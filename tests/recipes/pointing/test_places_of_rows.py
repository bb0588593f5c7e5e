"""Other models point too: place heads over the parts of trained rows and over a tower's patches."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs
from deixis.data.simulated.scenes.write_scenes import write_scenes
from deixis.errors import RecipeError, RunError
from deixis.features.store.boxes import grid_boxes
from deixis.features.store.packed import PackedRegions
from deixis.recipes.recipe import Recipe
from deixis.runs.adopt_pretrained import adopt_pretrained
from deixis.runs.advance import silent
from deixis.runs.data_spec import DataSpec
from deixis.runs.places.part_regions import parts_of_regions
from deixis.runs.places.place_head import PlaceHead
from deixis.runs.places.take_place_head import take_place_head
from deixis.runs.prepare import prepare
from deixis.runs.run import Run
from tiny_towers import tiny_clip

load_verbs()
HOSTS = ("scan", "bfan", "camp", "dive", "text_trace")


def call(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def recipe_of(host: str) -> Recipe:
    """Two rows of a few steps: a model, and a place head over its images' parts."""
    texts = {"texts": "narrations"} if host == "text_trace" else {}
    places = {
        "label": "places",
        "method": {"name": "places", "dim": 8, "hidden": 16},
        "places": {"of": "host"},
        "data": {"texts": "phrases", "text": "minilm-int8"},
        "train": {"batching": "images", "texts_per_image": 2},
    }
    table = {
        "data": {"corpus": "scenes", "size": 60, "image": "regions", "text": "words"},
        "train": {"length": 2, "batch": 8, "validate_every": 2},
        "row": [{"label": "host", "method": {"name": host, "dim": 16}, "data": texts}, places],
    }
    return Recipe.of("hosts", table)


@pytest.mark.parametrize("host", HOSTS)
def test_a_row_whose_images_have_parts_gets_a_place_head(host, tmp_path):
    recipe = recipe_of(host)
    recipe.train("host", runs=tmp_path)
    places = recipe.train("places", runs=tmp_path)
    head = take_place_head(places)
    assert head.own_parts
    assert head.weights["cell.weight"].shape == (8, 16)
    head.write(tmp_path / "places.safetensors")
    assert PlaceHead.read(tmp_path / "places.safetensors").own_parts


def test_the_parts_of_a_run_stand_in_for_the_regions(tmp_path):
    host = recipe_of("scan").train("host", runs=tmp_path)
    of_host = str(host.folder)
    plain, parts = (
        prepare(DataSpec("scenes", size=60, image="regions", text="words", parts_of=run), silent)
        for run in ("", of_host)
    )
    assert (plain.sizes.region, parts.sizes.region) == (64, 16)


def test_the_table_judges_a_host_with_its_place_head(tmp_path):
    report = Recipe.load("places_scan", ["data.size=60"], tiny=True).run(tmp_path)
    (result,) = report.pointing
    assert result.line("σ = 0.05").queries == result.line("text only").queries > 0
    assert "swapped places" in report.markdown()


def test_a_model_of_single_vectors_has_no_parts_to_point_at(tmp_path):
    adopt_pretrained(f"hf:{tiny_clip(tmp_path / 'clip')}", tmp_path / "run")
    seen = np.ones((9, 16), np.float32)
    patches = PackedRegions(seen, np.array([0, 9]), grid_boxes(3), np.ones((1, 10), np.float32))
    with pytest.raises(RunError, match="no vector per region"):
        parts_of_regions(Run(tmp_path / "run"), patches, np.array([0]))


def test_places_of_an_unknown_row_are_refused():
    table = {
        "row": [{"label": "p", "method": {"name": "places"}, "places": {"of": "nobody"}}],
    }
    with pytest.raises(RecipeError, match="places of 'nobody'"):
        Recipe.of("wrong", table)


def test_a_clip_gets_a_place_head_over_its_patches(tmp_path):
    corpus = write_scenes(tmp_path / "scenes", images=60)
    tower = f"hf:{tiny_clip(tmp_path / 'clip', longest=64)}"
    said = json.loads(call("adopt", tower, tmp_path / "run", "--places", corpus, "--json"))
    assert said["pointing"]["lines"][0]["label"] == "text only"
    head = PlaceHead.read(Run(tmp_path / "run").path("places"))
    assert (head.image, head.text, head.own_parts) == (tower, tower, False)
    shown = call("evaluate", tmp_path / "run", "--protocol", "places", "--corpus", corpus)
    assert "mirrored twins" in shown
