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

from deixis.cli.command import app, load_verbs
from deixis.errors import RunError, SearchError
from deixis.recipes.packing.ship_run import ship_run
from deixis.runs.matcher import load
from deixis.runs.run import Run
from deixis.search.encoders import load_encoder as opening
from deixis.search.encoders.hubness_encoder import HubnessEncoder
from deixis.search.encoders.load_encoder import PHOTOS, load_encoder
from deixis.search.encoders.onnx_encoder import OnnxEncoder
from deixis.search.library.library import Library

load_verbs()
RECIPE = Path(__file__).parents[3] / "recipes" / "flickr8k.toml"


def call(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    few = ("data.corpus=scenes", "data.size=40", "data.val=val", "data.test=test", "data.holdout=0")
    call("train", RECIPE, *few, "--rehearse", "--runs", runs)
    return runs / "flickr8k-rehearsal" / "linear-+-mlp-lite0-0"


@pytest.fixture(scope="module")
def packed(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("package") / "photos"
    assert json.loads(pack(run, folder))["folder"] == str(folder)
    return folder


def pack(run, folder, before="pass"):
    """Pack in another process: tracing hands shapes over as tensors, which tests refuse."""
    code = f"import sys; {before}; from deixis.cli.command import main; main()"
    words = [sys.executable, "-c", code, "pack", str(run), "--to", str(folder), "--json"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    return ran.stdout if ran.returncode == 0 else ran.stderr


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
    for said in ("`two_tower`", "`scenes`", "## Limits", "Research use only"):
        assert said in card
    assert (opening.PACKAGED / "LICENSE.md").is_file()


def test_pictures_are_indexed_and_searched_without_naming_a_model(
    packed, pictures, tmp_path, monkeypatch
):
    monkeypatch.setattr(opening, "PACKAGED", packed)
    encoder = load_encoder(PHOTOS)
    assert isinstance(encoder, HubnessEncoder) and isinstance(encoder.run, OnnxEncoder)
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
        "from deixis.search.library.library import Library\n"
        "from deixis.search.encoders import load_encoder as opening\n"
        "from deixis.search.query.query import Query\n"
        f"opening.PACKAGED = Path({str(packed)!r})\n"
        f"library = Path({str(tmp_path / 'library')!r})\n"
        f"Library(library).add({str(pictures)!r})\n"
        "assert len(Library(library).search(Query(text='a dog')).hits) == 6\n"
        "assert 'torch' not in sys.modules, 'torch was loaded'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_a_packaged_model_one_must_be_named(tmp_path, pictures, monkeypatch):
    monkeypatch.setattr(opening, "PACKAGED", tmp_path / "nothing")
    with pytest.raises(SearchError, match="name one: --model RUN"):
        call("index", pictures, "-l", tmp_path / "library")


def test_what_is_too_large_to_ship_is_refused(run, tmp_path):
    small = "import deixis.recipes.packing.packaging as packaging; packaging.LARGEST = 0.001"
    assert "MB of weights; the limit is 0.001" in pack(run, tmp_path / "photos", small)


def test_packing_again_replaces_the_folder_at_once_and_keeps_its_licence(run, packed, tmp_path):
    folder = tmp_path / "photos"
    shutil.copytree(packed, folder)
    (folder / "LICENSE.md").write_text("mine")
    (folder / "places.safetensors").write_bytes(b"of a run that was packed here before")
    before = {path.name: path.stat().st_ino for path in folder.iterdir()}
    cut_off = "import deixis.recipes.packing.ship_run as s; s.pack_sentences = None"
    assert "TypeError" in pack(run, folder, cut_off)
    assert {path.name: path.stat().st_ino for path in folder.iterdir()} == before
    pack(run, folder)
    after = {path.name: path.stat().st_ino for path in folder.iterdir()}
    assert {*before} - {*after} == {"places.safetensors"}
    assert not {*before.values()} & {*after.values()}
    assert (folder / "LICENSE.md").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["photos"]


def test_a_folder_that_holds_anything_else_is_never_replaced(run):
    with pytest.raises(RunError, match="which is no file of a packed run, and packing replaces"):
        ship_run(Run(run), run)
    assert (run / "log.jsonl").is_file()


def test_a_packed_run_reads_by_eight_bits_whatever_it_was_trained_with(run, packed):
    trained, shipped = (json.loads((f / "config.json").read_text()) for f in (run, packed))
    assert (trained["image"], trained["text"]) == ("lite0", "minilm")
    assert (shipped["image"], shipped["text"]) == ("lite0-int8", "minilm-int8")
    # Rounded matrices lie in the graphs as they were rounded, a quarter of the bytes.
    graphs = sum((packed / "onnx" / f"{side}.onnx").stat().st_size for side in ("image", "text"))
    assert graphs < 1.2 * (packed / "model.safetensors").stat().st_size


def test_precisions_do_not_mix_in_a_library(run, packed, pictures, tmp_path, monkeypatch):
    Library(tmp_path / "library", run).add(pictures)
    monkeypatch.setattr(opening, "PACKAGED", packed)
    with pytest.raises(SearchError, match="deixis index --rebuild"):
        Library(tmp_path / "library", PHOTOS).search("a red ball")
