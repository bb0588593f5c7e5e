"""Two runs side by side on a page: queries that one wins and the other loses."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.data.corpus import Corpus, split_sha
from deixis.errors import EvaluationError
from deixis.evaluation.judge import judge, scores_of
from deixis.evaluation.significance import Difference
from deixis.pages.cards import Card, image_card, text_card, trace_card
from deixis.pages.render import write_html
from deixis.recipes.trace_control_runs import compare_runs
from deixis.runs.advance import Advance, silent
from deixis.runs.run import Run, seeds_of
from deixis.similarity.blocked.topk import nearest

SHOWN = 12  # queries per section
TEXTS, IMAGES = 5, 3  # hits per query
DIRECTIONS = (("t2i", "Text to image"), ("i2t", "Image to text"))


@dataclass(frozen=True)
class RankedRun:
    """A run, its scores on a split, and the rank of every query."""

    name: str
    scores: Float[ndarray, "image text"]
    ranks: dict[str, Int[ndarray, " query"]]


@dataclass(frozen=True)
class RunHits:
    """The first hits of one run for one query."""

    run: str
    rank: int
    hits: Sequence[Card]


@dataclass(frozen=True)
class ComparedQuery:
    """A query with the first hits of both runs; the expected items only where a trace is shown."""

    query: Sequence[Card]
    expected: Sequence[Card]
    runs: Sequence[RunHits]


@dataclass(frozen=True)
class ComparedSection:
    """The queries of one direction that one run wins most clearly."""

    title: str
    winner: str
    queries: Sequence[ComparedQuery]


def compare_on_page(
    first: Path | str,
    second: Path | str,
    page: Path | None = None,
    *,
    seed: int = 0,
    control: str = "",
    advance: Advance = silent,
) -> list[Difference]:
    """Compare two runs over all their seeds; where a page is named, show the first seed of each."""
    found = compare_runs(first, second, seed=seed, control=control, advance=advance)
    if page is not None:
        write_comparison(page, seeds_of(first)[0], seeds_of(second)[0], advance)
    return found


def write_comparison(
    page: Path, first: Run, second: Run, advance: Advance, split: str = ""
) -> None:
    """Score two runs on a split, by default the one they were judged on, and write one page."""
    runs, corpora = [], []
    for run in (first, second):
        dataset = run.dataset(split, advance=advance)
        scores = scores_of(run.matcher.model, dataset)
        runs.append(RankedRun(run.name, scores, judge(scores, dataset.corpus).ranks))
        corpora.append(dataset.corpus)
    if split_sha(corpora[0]) != split_sha(corpora[1]):
        raise EvaluationError(f"{first} and {second} were judged on different splits")
    title = f"{runs[0].name} and {runs[1].name} side by side"
    write_html(page, "comparison", title=title, sections=compared(corpora[0], *runs))


def compared(corpus: Corpus, first: RankedRun, second: RankedRun) -> list[ComparedSection]:
    """For each direction and each run, the queries it wins most clearly."""
    sections = []
    for way, title in DIRECTIONS:
        # By reciprocal rank: a query found at once by one and missed by the other says most.
        gain = 1 / first.ranks[way] - 1 / second.ranks[way]
        for winner, sign in ((first.name, 1), (second.name, -1)):
            order = np.argsort(-sign * gain, kind="stable")[:SHOWN]
            queries = [
                _query(corpus, way, int(query), (first, second))
                for query in order
                if sign * gain[query] > 0
            ]
            sections.append(ComparedSection(title, winner, queries))
    return sections


def _query(
    corpus: Corpus, way: str, query: int, runs: tuple[RankedRun, RankedRun]
) -> ComparedQuery:
    if way == "i2t":
        right = set(corpus.pairs[corpus.pairs[:, 0] == query, 1].tolist())
        asked, expected = [image_card(corpus, query)], []
        found = [_ranked(run, way, query, TEXTS) for run in runs]
        hits = [[text_card(corpus, hit, right=hit in right) for hit in of] for of in found]
    else:
        right = set(corpus.pairs[corpus.pairs[:, 1] == query, 0].tolist())
        narration = corpus.narrations.get(query)
        strokes = narration.strokes if narration else ()
        asked, found = (
            [text_card(corpus, query)],
            [_ranked(run, way, query, IMAGES) for run in runs],
        )
        asked += [trace_card(strokes)] if strokes else []
        drawn = [image_card(corpus, image, right=True, strokes=strokes) for image in sorted(right)]
        expected = drawn if strokes else []
        hits = [
            [image_card(corpus, hit, right=hit in right, strokes=strokes) for hit in of]
            for of in found
        ]
    shown = [
        RunHits(run.name, int(run.ranks[way][query]), cards)
        for run, cards in zip(runs, hits, strict=True)
    ]
    return ComparedQuery(asked, expected, shown)


def _ranked(run: RankedRun, way: str, query: int, top: int) -> list[int]:
    scores = run.scores[:, query] if way == "t2i" else run.scores[query]
    return nearest(scores[None, :], top).items[0].tolist()
