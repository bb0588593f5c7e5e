import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from deixis.cli.app import app, load_verbs
from deixis.errors import RunError
from deixis.features.words import Vocabulary
from deixis.methods import export as exporting
from deixis.methods import load_all
from deixis.methods.export import export_run
from deixis.methods.matcher import Matcher, RunConfig
from deixis.methods.model import Sizes, methods
from deixis.search import verbs
from deixis.search.exported import ExportedRun
from deixis.search.matching import RunEncoder
from deixis.search.opening import open_run
from deixis.search.query import Query
from made import made_pictures

load_verbs()
load_all()
WORDS = Vocabulary(("a", "bird", "car", "dog", "people", "red", "sit", "two", "with", "yellow"))


def run_folder(path, method, text="words"):
    """A run as training would leave it, its weights by chance."""
    torch.manual_seed(0)
    words = text == "words"
    sizes = Sizes(
        region=1280,
        image=1280,
        token=0 if words else 384,
        text=0 if words else 384,
        vocabulary=WORDS.size,
    )
    options = dict(method)
    model = methods.build(options.pop("name"), options).model(sizes)
    Matcher(model, RunConfig(method, sizes, "lite0", text), WORDS if words else None).save(path)
    return path


CASES = {
    "vsepp": ({"name": "vsepp", "dim": 16, "word_dim": 8}, "words"),
    "vse_infinity": ({"name": "vse_infinity", "dim": 16, "word_dim": 8}, "words"),
    "frozen states": ({"name": "vse_infinity", "dim": 16}, "minilm"),
    "frozen states, averaged": ({"name": "vsepp", "dim": 16}, "minilm"),
    "scan": ({"name": "scan", "dim": 16, "word_dim": 8}, "words"),
    "dive": ({"name": "dive", "dim": 16}, "words"),
    "two_tower": ({"name": "two_tower", "dim": 16, "text_hidden": 8}, "minilm"),
    "pvse": ({"name": "pvse", "dim": 16}, "words"),
    "vsrn": ({"name": "vsrn", "dim": 16}, "words"),
    "camp": ({"name": "camp", "dim": 16}, "words"),
}
# A process of its own: tracing hands shapes over as tensors, which the checks of tests refuse.
EXPORT = """
import json, sys
from pathlib import Path
from deixis.methods.export import export_run
done = [export_run(Path(run)) for run in sys.argv[1:]]
print(json.dumps([[one.image, one.text] for one in done]))
"""


@pytest.fixture(scope="module")
def exported_runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    runs = {name: run_folder(folder / name, *case) for name, case in CASES.items()}
    command = [sys.executable, "-c", EXPORT, *map(str, runs.values())]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return runs, dict(zip(runs, json.loads(ran.stdout), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_graphs_equal_torch_on_batches_of_any_size_and_length(exported_runs, case):
    runs, gaps = exported_runs
    run = runs[case]
    assert max(gaps[case]) <= 1e-4
    exported, plain = ExportedRun(run), RunEncoder(run)
    assert exported.identity == plain.identity
    assert exported.exact == plain.exact
    texts = ["a dog", "two red people sit with a yellow bird", "unseen words", "a " * 30]
    for some in (texts, texts[:1]):
        ours, wanted = exported.encode_text(some), plain.encode_text(some)
        assert np.array_equal(ours.mask, wanted.mask)
        assert np.abs(ours.vectors - wanted.vectors)[ours.mask].max() < 1e-4


@pytest.fixture
def run(tmp_path):
    return run_folder(tmp_path / "run", {"name": "vsepp", "dim": 16, "word_dim": 8})


@pytest.fixture
def pictures(tmp_path):
    folder = made_pictures(tmp_path / "pictures", 4)
    (folder / "broken.png").write_text("no picture")
    return folder


def test_search_uses_the_graphs_and_finds_the_same(tmp_path, run, pictures):
    with_torch = verbs.index([pictures], tmp_path / "a", run)
    hits = verbs.search(Query(text="a red dog", k=4), tmp_path / "a").hits
    ran = CliRunner().invoke(app, ["export", str(run), "--onnx"], catch_exceptions=False)
    assert ran.exit_code == 0 and "differs from torch by" in ran.stdout
    assert isinstance(open_run(run), ExportedRun)
    report = verbs.index([pictures], tmp_path / "b", run)
    assert report.to_dict() == with_torch.to_dict()
    assert dict(report.counts) == {"added": 4, "broken": 1}
    found = verbs.search(Query(text="a red dog", k=4), tmp_path / "b").hits
    assert [hit.paths for hit in found] == [hit.paths for hit in hits]
    assert np.allclose([hit.score for hit in found], [hit.score for hit in hits], atol=1e-4)


def test_an_exported_run_searches_without_torch(tmp_path, run, pictures):
    export_run(run)
    verbs.index([pictures], tmp_path / "library", run)
    code = (
        "import sys; from pathlib import Path;"
        "from deixis.search import verbs; from deixis.search.query import Query;"
        f"found = verbs.search(Query(text='a dog', k=2), Path({str(tmp_path / 'library')!r}));"
        "assert len(found.hits) == 2; assert 'torch' not in sys.modules, 'torch was loaded'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_export_of_other_weights_is_refused(run):
    export_run(run)
    manifest = run / "onnx" / "export.json"
    record = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(record | {"weights": "others"}))
    with pytest.raises(RunError, match="exported with other weights; export again"):
        _ = ExportedRun(run).identity


def test_graphs_that_differ_from_torch_are_not_kept(run, monkeypatch):
    monkeypatch.setattr(exporting, "_gap", lambda *_: 2e-4)
    with pytest.raises(
        RunError, match="image.onnx differs from torch by 0.0002; 0.0001 is allowed"
    ):
        export_run(run)
    assert not (run / "onnx" / "image.onnx").exists()
    assert isinstance(open_run(run), RunEncoder) and not isinstance(open_run(run), ExportedRun)
