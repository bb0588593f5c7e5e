"""The demo, on simulated scenes: a table, a library, and searches in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from deixis.data.corpus import Corpus
from deixis.evaluation.judge import evaluate_split
from deixis.features.trace.drawing import Drawing
from deixis.recipes.events import Counted, OnEvent, TableReady, unheard
from deixis.recipes.recipe import Recipe
from deixis.runs.advance import silent
from deixis.runs.data_spec import DataSpec
from deixis.runs.find_corpus import find_corpus
from deixis.runs.prepare import prepare_split
from deixis.runs.run import Run
from deixis.search.encoders.load_encoder import SCENES, packaged_scenes
from deixis.search.library.library import Library
from deixis.search.query.query import Hit, Query

TABLE = "tiny"  # a recipe that comes with deixis, trained while one waits
QUERIES, SEED = 3, 0  # which narrations are asked is drawn by the seed, not chosen


@dataclass(frozen=True)
class AnsweredNarration:
    """A narration searched twice: by its words, and by its words with what was drawn."""

    text: str
    file: str  # the picture it describes
    by_words: Sequence[Hit]
    by_words_and_trace: Sequence[Hit]


@dataclass(frozen=True)
class SceneFigures:
    """How well a model finds held-out scenes, in percent of the queries."""

    pictures: int
    by_captions: tuple[float, float]  # R@1 and R@5 by words alone
    by_pointing: tuple[float, float]  # by narrations and what was drawn with them
    right_twin: float  # of the latter, ranked above scenes of the same things in other places


@dataclass(frozen=True)
class Demonstration:
    """The library that was built, how good its model is, and what it answered."""

    library: Path
    figures: SceneFigures
    answers: Sequence[AnsweredNarration]


def demonstrate(folder: Path, *, tiny: bool = False, on_event: OnEvent = unheard) -> Demonstration:
    """Draw scenes, train a table, index the held-out pictures, and search them.

    They are searched with the model for scenes that comes with deixis, trained ahead by the recipe
    ``scenes_search`` on scenes of its own.
    """
    recipe = Recipe.load(TABLE, tiny=tiny)
    on_event(TableReady(recipe.run(folder / "runs", on_event)))
    data = replace(Run(packaged_scenes()).data, size=recipe.rows[-1].data.size, texts="narrations")
    held_out = find_corpus(data, silent).split(data.test)
    with Library(folder / "library", SCENES) as library:
        library.add(
            held_out.path(0).parent,
            on_file=lambda outcome, done, total: on_event(Counted("indexing", done, total)),
        )
        answers = [_answered(query, file, library) for query, file in _queries(held_out)]
    return Demonstration(folder / "library", scene_figures(data), answers)


def scene_figures(data: DataSpec) -> SceneFigures:
    """Judge the packaged model for scenes on the test split of a corpus of scenes."""
    matcher = Run(packaged_scenes()).matcher
    found = {}
    for texts in ("captions", "narrations"):
        split = prepare_split(replace(data, texts=texts), data.test, matcher.vocabulary, silent)
        found[texts] = evaluate_split(matcher.model, split).measures
    hits = {texts: (m["t2i_hit@1"], m["t2i_hit@5"]) for texts, m in found.items()}
    pictures = len(split.corpus.files)
    twin = found["narrations"].get("twin", float("nan"))
    return SceneFigures(pictures, hits["captions"], hits["narrations"], twin)


def _queries(corpus: Corpus) -> Iterator[tuple[Query, str]]:
    """Narrations of held-out scenes drawn at random, as they were said, and what they are of."""
    chosen = np.random.default_rng(SEED).choice(len(corpus.texts), QUERIES, replace=False)
    for text in chosen.tolist():
        said = corpus.narrations[text]
        drawing = Drawing(said.strokes, said.words, weight=1.0)
        yield Query(text=said.text, k=3, drawing=drawing), corpus.files[corpus.owners[text]]


def _answered(query: Query, file: str, library: Library) -> AnsweredNarration:
    words_alone = library.search(replace(query, drawing=Drawing())).hits
    return AnsweredNarration(query.text or "", file, words_alone, library.search(query).hits)
