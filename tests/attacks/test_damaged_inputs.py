"""Recipes, configurations, corpora and libraries with one thing wrong: a sentence, no traceback."""

import json
import re
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_library import made_library

from deixis.data.check_corpus import check_corpus
from deixis.data.read_corpus import read_corpus
from deixis.errors import DeixisError
from deixis.methods.vsepp import VSEPP
from deixis.recipes.recipe import Recipe
from deixis.runs.matcher import Matcher
from deixis.runs.run import Run
from deixis.runs.run_config import RunConfig
from deixis.search.library.library_status import status
from deixis.search.library.library_store import LibraryStore
from deixis.search.library.verification import verify
from deixis.types import Sizes
from layouts import (
    coco_annotations,
    conceptual_captions,
    flickr8k,
    karpathy,
    localized_narratives,
    own_photographs,
    tagged,
)

ROOT = Path(__file__).parents[2]
WRITERS = [
    coco_annotations.write_coco2017,
    conceptual_captions.write_conceptual_captions,
    conceptual_captions.write_gathered_captions,
    flickr8k.write_published_flickr8k,
    flickr8k.write_captions_table,
    flickr8k.write_flickr8k,
    karpathy.write_flickr30k,
    karpathy.write_coco,
    localized_narratives.write_open_images,
    own_photographs.write_own_photographs,
    tagged.write_mirflickr,
    tagged.write_nuswide,
]
VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|null|true|false|\w+')
ODD = [
    *(b"", b"null", b"-1", b"0", b"1e999", b"NaN", b"[]", b"{}", b"[[1]]", b'{"a": 1}'),
    *(b'"\\ud800"', b'"../../etc/passwd"', b"true", b"9" * 40, b"\xff\xfe", b"\x00", b'"', b"\n"),
    b"[" * 5000,
]  # fmt: skip
MANY = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def wrongs(draw):
    """A change of a file's bytes: one value replaced, a piece cut out, doubled or put in."""
    how = draw(st.sampled_from(["value", "value", "value", "cut", "double", "insert", "end"]))
    where, length = draw(st.floats(0, 1)), draw(st.integers(1, 200))
    odd = draw(st.sampled_from(ODD))

    def change(content: bytes) -> bytes:
        place = int(where * len(content))
        if how == "value":
            found = list(VALUE.finditer(content))
            if found:
                chosen = found[int(where * (len(found) - 1))]
                return content[: chosen.start()] + odd + content[chosen.end() :]
        if how == "double":
            return content[: place + length] + content[place:]
        if how == "cut":
            return content[:place] + content[place + length :]
        if how == "end":
            return content[:place]
        return content[:place] + odd + content[place:]

    return change


@contextmanager
def wrong(path: Path, change):
    """A file with something wrong, for as long as the block lasts."""
    before = path.read_bytes()
    path.write_bytes(change(before))
    try:
        yield
    finally:
        path.write_bytes(before)


def refused_or_done(*works) -> None:
    for work in works:
        try:
            work()
        except DeixisError as error:
            assert str(error)


@pytest.fixture(scope="module", params=WRITERS, ids=lambda writer: writer.__name__)
def corpus(request, tmp_path_factory) -> tuple[Path, list[Path]]:
    root = request.param(tmp_path_factory.mktemp("corpus"))
    folder = root if root.is_dir() else root.parent
    read_corpus(root)
    texts = [".json", ".jsonl", ".csv", ".tsv", ".txt", ".token", ""]
    return root, [
        path for path in sorted(folder.rglob("*")) if path.suffix in texts if path.is_file()
    ]


@MANY
@given(change=wrongs(), which=st.floats(0, 1))
def test_a_corpus_with_one_thing_wrong_is_read_or_refused(corpus, change, which):
    root, files = corpus
    with wrong(files[int(which * (len(files) - 1))], change):
        refused_or_done(lambda: read_corpus(root), lambda: check_corpus(root))


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    run = Run(tmp_path_factory.mktemp("run"))
    sizes = Sizes(region=8, vocabulary=30)
    method = {"name": "vsepp", "dim": 16, "word_dim": 8}
    config = RunConfig(method, sizes, "lite0", "minilm")
    Matcher(VSEPP(dim=16, word_dim=8).model(sizes), config, None).save(run.folder)
    data = {"corpus": "nowhere", "train": "train", "val": "val", "test": "test", "window": 0.4}
    run.path("recipe").write_text(json.dumps({"data": data, "train": {"lr": 1e-3}}))
    return run


@MANY
@given(change=wrongs(), kind=st.sampled_from(["config", "recipe", "weights"]))
def test_a_run_with_one_thing_wrong_is_loaded_or_refused(run, change, kind):
    with wrong(run.path(kind), change):
        fresh = Run(run.folder)
        refused_or_done(lambda: fresh.config, lambda: fresh.data, lambda: fresh.matcher)
        refused_or_done(fresh.dataset)


@MANY
@given(change=wrongs(), name=st.sampled_from(sorted(p.name for p in ROOT.glob("recipes/*.toml"))))
def test_a_recipe_with_one_thing_wrong_is_read_or_refused(tmp_path_factory, change, name):
    path = tmp_path_factory.mktemp("recipe") / "made.toml"
    path.write_bytes(change((ROOT / "recipes" / name).read_bytes()))
    refused_or_done(lambda: Recipe.load(path), lambda: Recipe.load(path, tiny=True))


KEYS = [
    "train.lr",
    "train.length",
    "data.val",
    "data.size",
    "seeds",
    "row",
    "row.0",
    "",
    ".",
    "a.b.c",
]


@MANY
@given(key=st.sampled_from(KEYS), value=st.text(max_size=12) | st.sampled_from(["nan", "-1", "[]"]))
def test_an_override_is_taken_or_refused(key, value):
    refused_or_done(lambda: Recipe.load("tiny", [f"{key}={value}"]))


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return made_library(tmp_path_factory.mktemp("library"))


@MANY
@given(
    change=wrongs(), name=st.sampled_from(["current", "header.json", "seal.json", "vectors.f32"])
)
def test_a_library_with_one_thing_wrong_is_opened_or_refused(made, change, name):
    path = made / "current"
    if name != "current":
        path = made / path.read_text().strip() / name
    with wrong(path, change):
        refused_or_done(
            lambda: LibraryStore(made).close(), lambda: status(made), lambda: verify(made)
        )


@settings(MANY, max_examples=25)
@given(change=wrongs())
def test_a_manifest_with_one_thing_wrong_is_opened_or_refused(made, tmp_path_factory, change):
    copy = tmp_path_factory.mktemp("copy") / "library"
    shutil.copytree(made, copy)
    path = copy / (copy / "current").read_text().strip() / "manifest.sqlite"
    path.write_bytes(change(path.read_bytes()))
    refused_or_done(lambda: status(copy), lambda: verify(copy))
