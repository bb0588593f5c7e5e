"""Every recipe starts on the official layout of its own corpus: all rows, a few steps, narrow.

They are narrower, and of fewer and smaller images, than a rehearsal; whole ones run in
``tests/docs/test_what_to_type``, where rows that start from a BERT are as wide as a real one.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from deixis.evaluation.protocols import coco_judgements
from deixis.features.backbones.backbone import vectors_of
from deixis.features.backbones.tower_names import split_side
from deixis.features.backbones.trainable_inputs import PREFIX
from deixis.recipes.narrow_methods import SMALL
from deixis.recipes.recipe import REHEARSED, Recipe
from deixis.recipes.results.printed_table import Report
from layouts.eccv_caption import write_eccv_caption
from layouts.flickr8k import write_published_flickr8k
from layouts.of_recipes import NARROW_TOWERS, lay_out

FEWER = {"size": 60, "side": 96}  # images that are drawn, and pixels of their shorter side
WIDTHS = ("width", "image_hidden", "text_hidden")
RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))


def _reads_captions_of_flickr8k(path: Path) -> bool:
    read = {(row.data.corpus, row.data.texts, row.data.also) for row in Recipe.load(path).rows}
    return read == {("flickr8k", "captions", ())}


CAPTIONS_OF_FLICKR8K = [path for path in RECIPES if _reads_captions_of_flickr8k(path)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder where corpora unpack once, as they would on a disk."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def _at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setenv("DEIXIS_CACHE", str(home / "cache"))
    folder = home / "eccv_caption"
    if not folder.exists():
        write_eccv_caption(folder)
    monkeypatch.setattr(coco_judgements, "_data_folder", lambda: folder)
    monkeypatch.setattr("deixis.recipes.recipe.BERT_WIDTHS", ("bert",))
    for key, most in FEWER.items():
        monkeypatch.setitem(REHEARSED, key, most)
    for key in WIDTHS:
        monkeypatch.setitem(SMALL, key, 32)


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_recipe_runs_on_the_layout_of_its_own_corpus(path, home, tmp_path):
    whole = Recipe.load(path)
    for row in whole.rows:
        inputs = (row.data.image, row.data.text)
        tuned = {name.removeprefix(PREFIX) for name in inputs if name.startswith(PREFIX)}
        towers = {split_side(path)[0] for path in tuned}
        towers |= {vectors_of(row.data.text)} - {"", "glove"}
        towers |= {str(Path(row.options["bert"]).parent)} if "bert" in row.options else set()
        for corpus in (row.data.corpus, *row.data.also):
            lay_out(home, corpus, towers, NARROW_TOWERS)
    rehearsed = Recipe.load(path, rehearse=True)
    report = rehearsed.run(tmp_path)
    for row, of in zip(rehearsed.rows, whole.rows, strict=True):
        counts = {key: getattr(row.data, key) for key in REHEARSED}
        assert row.data == replace(of.data, **counts), "only counts may be smaller"
        assert (row.label, row.start, row.offline) == (of.label, of.start, of.offline)
    for key in ("judge", "derived", "costs", "cost_split"):
        assert getattr(rehearsed, key) == getattr(whole, key), key
    _has_every_line(whole, report)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder where Flickr8k unpacks as it was published: captions, lists, pictures."""
    root = tmp_path_factory.mktemp("published")
    write_published_flickr8k(root / "flickr8k")
    return root


@pytest.mark.parametrize("path", CAPTIONS_OF_FLICKR8K, ids=lambda path: path.stem)
def test_a_recipe_of_captions_runs_on_flickr8k_as_published(path, published, tmp_path, monkeypatch):
    monkeypatch.chdir(published)
    recipe = Recipe.load(path, rehearse=True)
    first = replace(recipe, rows=recipe.rows[:1], derived=(), figures=())
    report = first.run(tmp_path)
    assert next(line for line in report.lines if line.label == first.rows[0].label).seeds


def _has_every_line(recipe: Recipe, report: Report) -> None:
    """Every row was measured, and everything the paper prints has its column."""
    printed = {line.label: line.printed for line in (*recipe.rows, *recipe.derived)}
    lines = {line.label: line for line in report.lines}
    assert set(printed) <= set(lines)
    for label, numbers in printed.items():
        assert lines[label].seeds and lines[label].printed == numbers
        assert set(numbers) <= set(report.columns), label
        assert set(numbers) <= set(lines[label].seeds[0]), label
