"""A run is trained, packed, found without being named, and searched without torch."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from deixis.cli.app import app, load_verbs
from deixis.errors import RunError, SearchError
from deixis.methods.matcher import load
from deixis.recipes import pack
from deixis.search import opening
from deixis.search.banked import BankedRun
from deixis.search.exported import ExportedRun
from deixis.search.opening import PHOTOS, open_run

load_verbs()
RECIPE = Path(__file__).parents[2] / "recipes" / "flickr8k.toml"


def call(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    call("train", RECIPE, "--tiny", "--runs", runs)
    return runs / "flickr8k-tiny" / "linear-+-mlp-lite0-0"


@pytest.fixture(scope="module")
def packed(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("package") / "photos"
    said = call("pack", run, "--to", folder)
    assert "RSUM" in said
    # Tracing hands shapes over as tensors, which the checks of tests refuse: another process.
    code = "import sys; from deixis.search import opening; from pathlib import Path;"
    code += f"opening.PACKAGED = Path({str(folder)!r}); opening.open_run(opening.PHOTOS)"
    subprocess.run([sys.executable, "-c", code], check=True)
    return folder


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    random = np.random.default_rng(0)
    for number in range(6):
        pixels = random.integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((64, 48), 0).save(folder / f"{number}.png")
    return folder


def test_a_packed_run_is_small_and_scores_nearly_the_same(run, packed):
    large, small = ((f / "model.safetensors").stat().st_size for f in (run, packed))
    assert small < 0.4 * large
    texts = ["a red ball", "two things on a beach"]
    ours, theirs = (load(f).encode_text(texts).vectors for f in (packed, run))
    assert (ours * theirs).sum(dim=-1).min() > 0.999


def test_the_card_states_data_measures_limits_and_licence(run, packed):
    card = (packed / "README.md").read_text()
    trained = json.loads((run / "metrics.json").read_text())["measures"]
    shipped = json.loads((packed / "metrics.json").read_text())["measures"]
    assert f"| as trained | {trained['i2t_hit@1']:.1f} |" in card
    assert f"{shipped['rsum']:.1f} |\n" in card
    for said in ("`two_tower`", "Flickr8k", "## Limits", "Research use only"):
        assert said in card
    assert (opening.PACKAGED / "LICENSE.md").is_file()


def test_pictures_are_indexed_and_searched_without_naming_a_model(
    packed, pictures, tmp_path, monkeypatch
):
    monkeypatch.setattr(opening, "PACKAGED", packed)
    encoder = open_run(PHOTOS)
    assert isinstance(encoder, BankedRun) and isinstance(encoder.run, ExportedRun)
    library = tmp_path / "library"
    report = json.loads(call("index", pictures, "-l", library, "--json"))
    assert report["counts"] == {"added": 6}
    found = json.loads(call("search", "a red ball", "-l", library, "--json"))
    assert len(found["hits"]) == 6
    status = json.loads(call("status", "-l", library, "--json"))
    assert status["source"] == PHOTOS
    # The package may move: what a library remembers is a name, not a path.
    moved = tmp_path / "moved"
    shutil.copytree(packed, moved)
    monkeypatch.setattr(opening, "PACKAGED", moved)
    assert json.loads(call("search", "a red ball", "-l", library, "--json")) == found


def test_the_packaged_model_searches_without_torch(packed, pictures, tmp_path):
    code = (
        "import sys; from pathlib import Path\n"
        "from deixis.search import opening, verbs\n"
        "from deixis.search.query import Query\n"
        f"opening.PACKAGED = Path({str(packed)!r})\n"
        f"library = Path({str(tmp_path / 'library')!r})\n"
        f"verbs.index([Path({str(pictures)!r})], library)\n"
        "assert len(verbs.search(Query(text='a dog'), library).hits) == 6\n"
        "assert 'torch' not in sys.modules, 'torch was loaded'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_a_packaged_model_one_must_be_named(tmp_path, pictures, monkeypatch):
    monkeypatch.setattr(opening, "PACKAGED", tmp_path / "nothing")
    with pytest.raises(SearchError, match="name one: --model RUN"):
        call("index", pictures, "-l", tmp_path / "library")


def test_what_is_too_large_to_ship_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.setattr(pack, "LARGEST", 0.001)
    with pytest.raises(RunError, match="MB of weights"):
        call("pack", run, "--to", tmp_path / "photos")
