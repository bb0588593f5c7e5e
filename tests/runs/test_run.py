"""A run folder says what it holds, or what is wrong with it."""

import json
from pathlib import Path

import pytest

import deixis
from deixis.errors import RunError
from deixis.features.words.vocabulary import Vocabulary
from deixis.methods.vsepp import VSEPP
from deixis.runs.matcher import Matcher
from deixis.runs.run import FILES, Run, seeds_of
from deixis.runs.run_config import RunConfig
from deixis.types import Sizes

WORDS = Vocabulary(("a", "ball", "dog"))
SIZES = Sizes(region=6, vocabulary=WORDS.size)
OPTIONS = {"name": "vsepp", "dim": 8, "word_dim": 4}
SRC = Path(deixis.__file__).parent


@pytest.fixture
def run(tmp_path):
    model = VSEPP(dim=8, word_dim=4).model(SIZES)
    folder = tmp_path / "run"
    Matcher(model, RunConfig(OPTIONS, SIZES, "lite0", "words"), WORDS).save(folder)
    return Run(folder)


def test_a_run_reads_its_model_once_and_its_files_when_asked(run):
    assert run.matcher is run.matcher
    assert run.matcher.vocabulary == WORDS
    assert run.config.method == OPTIONS
    assert run.trained and not run.finished
    assert Run(str(run)) == run == Run(run)


def test_a_missing_folder_is_named_with_what_writes_one(tmp_path):
    with pytest.raises(RunError, match="there is no run folder at .*nowhere; deixis train and"):
        _ = Run(tmp_path / "nowhere").config


def test_a_missing_folder_is_named_with_the_runs_beside_it(run):
    with pytest.raises(RunError, match=f"no run folder at .*nowhere; .* has {run.name}$"):
        _ = Run(run.folder.parent / "nowhere").config


def test_an_unfinished_run_has_no_metrics(run):
    with pytest.raises(RunError, match=r"not a finished run: it has no metrics\.json"):
        _ = run.metrics


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"sizes": 3}', "\udcff"])
def test_a_damaged_config_is_refused(run, content):
    run.path("config").write_text(content, errors="surrogateescape")
    with pytest.raises(RunError, match="damaged|does not describe a run"):
        _ = run.matcher


def test_cut_weights_are_refused(run):
    weights = run.path("weights").read_bytes()
    run.path("weights").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(RunError, match="do not fit each other"):
        _ = run.matcher


def test_a_run_without_its_words_is_refused_not_evaluated_wrongly(run):
    run.path("vocabulary").unlink()
    with pytest.raises(RunError, match=r"reads texts as words but has no vocabulary\.json"):
        _ = run.matcher


def test_a_run_with_words_of_another_number_is_refused(run):
    Vocabulary(("a", "ball")).save(run.path("vocabulary"))
    with pytest.raises(RunError, match="holds 7 words.*trained with 8"):
        _ = run.matcher


def test_a_run_that_no_recipe_trained_needs_a_corpus(run):
    with pytest.raises(RunError, match="name a corpus"):
        run.dataset()


def test_a_damaged_recipe_row_is_refused(run):
    run.path("recipe").write_text(json.dumps({"row": "x"}))
    with pytest.raises(RunError, match="does not say which data it read"):
        run.dataset()


def test_a_run_named_without_its_seed_means_all_of_them(tmp_path):
    for name in ("text-0", "text-2", "text-+-trace-0", "text-10", "text-x"):
        (tmp_path / name).mkdir()
    assert [run.name for run in seeds_of(tmp_path / "text")] == ["text-0", "text-2", "text-10"]
    assert seeds_of(tmp_path / "text-2") == [Run(tmp_path / "text-2")]
    with pytest.raises(RunError, match="none of any seed"):
        seeds_of(tmp_path / "words")


def test_no_other_module_spells_a_file_name_of_a_run():
    owned = set(FILES.values()) - {"onnx", "README.md", "config.json", "model.safetensors"}
    for path in SRC.rglob("*.py"):
        if path.name != "run.py":
            content = path.read_text(encoding="utf-8")
            spelt = [name for name in owned if f'"{name}"' in content]
            assert spelt == [], f"{path} spells {spelt}"
