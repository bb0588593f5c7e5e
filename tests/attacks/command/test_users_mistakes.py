"""A user's mistake is answered by a sentence; a traceback is a failed test."""

import errno
import json
import os
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from deixis.cli.shared.ending import memory_sentence, system_sentence
from deixis.data.read_corpus import read_corpus
from deixis.errors import DeixisError, RunError
from deixis.files import locked, write_atomic
from deixis.recipes.packing.ship_run import ship_run
from deixis.recipes.recipe import Recipe
from deixis.recipes.recipe_parts import Row
from deixis.runs.data_spec import DataSpec
from deixis.runs.prepare import Prepared, prepare
from deixis.runs.run import Run

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve", "--port", "99999"),
        ("serve", "--port", "-1"),
        ("train", "tiny", "--seed", "-1"),
        ("table", "tiny", "--tiny", "train.length=0"),
        ("table", "tiny", "--tiny", "train.lr=nan"),
        ("search", "dog", "--top", "0"),
        ("evaluate", "nothing-here"),
        ("data", "check", "nothing-here"),
        ("index", "nothing-here"),
        ("status",),
        ("verify",),
        ("search", "x" * 300, "--library", "y" * 300),
    ],
    ids=lambda arguments: " ".join(arguments)[:40],
)
def test_the_command_says_what_is_wrong(command, tmp_path, arguments):
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode in (1, 2), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("train", "tiny", "data.corpus="), "nothing is there"),
        (("train", "tiny", "--tiny", "--runs", "a-file"), "a file is there"),
        (("table", "tiny", "--tiny", "--runs", "a-file/runs"), "a file is there"),
        (("index", ".", "--library", "a-file"), "a file is there"),
        (("index", "~nobody-at-all/photos"), "does not exist"),
        (("search", "x", "--library", "~nobody-at-all/photos"), "is not a library"),
        (("adopt", "a-file", "run", "--method", "vsrn"), "no checkpoint of torch"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_the_command_says_it_in_one_sentence(command, tmp_path, arguments, said):
    (tmp_path / "a-file").write_text("hello")
    done = command(*arguments, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (1, True), done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, "it is found before anything is computed"


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "3", '"x"', "\x00", "{}"])
@pytest.mark.parametrize("kind", ["config", "recipe", "metrics", "vocabulary"])
def test_a_run_with_a_broken_file_is_refused(tmp_path, kind, content):
    run = Run(tmp_path / "run")
    run.folder.mkdir()
    run.path(kind).write_text(content)
    for look in (lambda: run.matcher, lambda: run.data, run.dataset):
        with pytest.raises(DeixisError):
            look()


@pytest.mark.parametrize("name", ["dim", "word_dim"])
@pytest.mark.parametrize("value", [0, -3, 10**20])
def test_a_model_of_impossible_width_is_refused(name, value):
    table = {"row": [{"label": "a", "method": {"name": "vsepp", name: value}}]}
    with pytest.raises(DeixisError, match=name):
        Recipe.of("made", table)


@pytest.mark.parametrize("kind", ["missing", "without measures"])
def test_a_mistyped_run_costs_the_packaged_model_nothing(tmp_path, monkeypatch, kind):
    packaged = tmp_path / "photos"
    packaged.mkdir()
    (packaged / "places.safetensors").write_bytes(b"a place head")
    monkeypatch.setattr("deixis.recipes.packing.ship_run.PACKAGED", packaged)
    run = tmp_path / "run"
    if kind == "without measures":
        run.mkdir()
        (run / "config.json").write_text("{}")
    with pytest.raises(RunError):
        ship_run(Run(run))
    assert (packaged / "places.safetensors").read_bytes() == b"a place head"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "there is not enough memory; make"),
        (RuntimeError("can't allocate memory: tried to allocate 51200000000 bytes"), "51.2 GB"),
        (RuntimeError("CUDA out of memory."), "there is not enough memory; make"),
        (RuntimeError("a mistake of ours"), None),
    ],
)
def test_too_little_memory_is_a_sentence(error, said):
    sentence = memory_sentence(error)
    assert sentence is None if said is None else said in sentence


def test_the_system_is_quoted_in_a_sentence():
    full = OSError(errno.ENOSPC, "No space left on device", "/x/model.safetensors")
    assert system_sentence(full).startswith("/x/model.safetensors: the disk is full")
    long = OSError(errno.ENAMETOOLONG, "File name too long", "/x/" + "y" * 500)
    assert len(system_sentence(long)) < 200


def test_long_names_can_be_written_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("é" * 120 + ".json")
    write_atomic(path, b"{}")
    assert path.read_bytes() == b"{}"


@pytest.mark.parametrize("name", ["values", "offsets", "boxes", "files"])
@pytest.mark.parametrize("how", ["empty", "cut", "missing", "text"])
def test_regions_that_cannot_be_read_are_refused(tmp_path, name, how):
    corpus(tmp_path)
    folder = tmp_path / "regions"
    folder.mkdir()
    files = [f"{split}/{n}.png" for split in ("train", "val", "test") for n in range(2)]
    np.save(folder / "values.npy", np.ones((12, 4), np.float16))
    np.save(folder / "boxes.npy", np.ones((12, 5), np.float32))
    np.save(folder / "offsets.npy", np.arange(0, 13, 2))
    (folder / "files.json").write_text(json.dumps(files))
    path = folder / ("files.json" if name == "files" else f"{name}.npy")
    if how == "missing":
        path.unlink()
    else:
        path.write_bytes(
            {
                "empty": b"",
                "cut": path.read_bytes()[: path.stat().st_size // 2],
                "text": b"no array",
            }[how]
        )
    with pytest.raises(DeixisError):
        prepare(DataSpec(corpus=str(tmp_path), image="regions"), lambda *_: None)


def test_widths_that_differ_between_splits_are_refused(tmp_path):
    for split, width in (("train", 6), ("dev", 4), ("test", 6)):
        np.save(tmp_path / f"{split}_ims.npy", np.ones((2, 3, width), np.float32))
        (tmp_path / f"{split}_caps.txt").write_text("a dog\n" * 10)
    with pytest.raises(DeixisError, match="6 .*4|4 .*6"):
        prepare(DataSpec(corpus=str(tmp_path), image="regions", val="dev"), lambda *_: None)


def corpus(root: Path) -> None:
    rows = []
    for split in ("train", "val", "test"):
        (root / split).mkdir()
        for number in range(2):
            Image.new("RGB", (8, 8), (number, 0, 0)).save(root / split / f"{number}.png")
            row = {"file_name": f"{split}/{number}.png", "text": "a dog", "split": split}
            rows.append(json.dumps(row))
    (root / "metadata.jsonl").write_text("\n".join(rows))


@pytest.mark.parametrize("what", ["training", "export"])
def test_two_processes_on_one_folder_one_works_the_other_says_who(tmp_path, what):
    folder = tmp_path / "run"
    folder.mkdir()
    with locked(folder / ".lock"), pytest.raises(DeixisError) as refused:
        if what == "training":
            from deixis.recipes.run_row import run_row

            made = (Mock(spec=kind) for kind in (Recipe, Row, Prepared))
            recipe, row, prepared = made
            run_row(recipe, row, 0, prepared, folder, lambda record: None)
        else:
            from deixis.runs.export import onnx_export

            (folder / "onnx").mkdir()
            with locked(folder / "onnx" / ".lock"):
                onnx_export.export_run(Run(folder))
    assert f"being written by process {os.getpid()}" in str(refused.value)


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-10, 10), st.floats(), st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ["title", "paper", "note", "seeds", "judge", "costs", "row", "data", "train", "derived"]
KEYS += ["figure", "start"]
DATA = ["corpus", "size", "image", "text", "texts", "window", "train", "val", "test", "holdout"]
TRAIN = ["length", "batch", "batching", "lr", "clip", "schedule", "warmup", "rates", "frozen"]
METHOD = ["name", "dim", "word_dim", "margin", "base"]


def tables(keys) -> st.SearchStrategy:
    return st.dictionaries(st.sampled_from(keys), VALUES, max_size=3)


RECIPES = st.fixed_dictionaries(
    {},
    optional={
        "row": st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "label": VALUES,
                    "method": st.fixed_dictionaries({"name": st.just("vsepp")})
                    | tables(METHOD)
                    | VALUES,
                    "data": tables(DATA) | VALUES,
                    "train": tables(TRAIN) | VALUES,
                    "printed": VALUES,
                    "offline": VALUES,
                    "take": VALUES,
                },
            )
            | VALUES,
            max_size=2,
        )
        | VALUES,
        "data": tables(DATA) | VALUES,
        "train": tables(TRAIN) | VALUES,
        **{key: VALUES for key in KEYS if key not in ("row", "data", "train")},
    },
)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(RECIPES)
def test_no_recipe_raises_anything_but_a_sentence(table):
    try:
        Recipe.of("made", table)
    except DeixisError as error:
        assert str(error)


LINES = st.lists(
    st.dictionaries(
        st.sampled_from(["file_name", "text", "captions", "split", "also", "labels", "image_id"]),
        VALUES,
        max_size=4,
    )
    | VALUES,
    max_size=4,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(lines=LINES, name=st.sampled_from(["metadata.jsonl", "captions_train.json", "dataset.json"]))
def test_no_corpus_raises_anything_but_a_sentence(tmp_path_factory, lines, name):
    root = tmp_path_factory.mktemp("corpus")
    Image.new("RGB", (4, 4)).save(root / "a.png")
    if name == "metadata.jsonl":
        content = "\n".join(json.dumps(line) for line in lines)
    else:
        content = json.dumps({"images": lines, "annotations": lines})
    (root / name).write_text(content, encoding="utf-8", errors="surrogatepass")
    try:
        read_corpus(root)
    except DeixisError as error:
        assert str(error)
