"""Two runs side by side on a page: the queries one wins and the other loses."""

import base64
import html
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from PIL import Image

from deixis.data.corpus import Corpus
from deixis.errors import EvaluationError
from deixis.evaluation.evaluate import judge, scores_of, split_sha
from deixis.features.clean import Stroke
from deixis.features.files import write_atomic
from deixis.features.trace_drawing import blank_canvas, with_trace
from deixis.methods.matcher import load
from deixis.recipes.prepare import Advance, prepare_for
from deixis.similarity.nearest import nearest

SHOWN = 12  # queries of each kind
TEXTS, IMAGES = 5, 3  # best ones shown
THUMBNAIL = 220  # pixels of the longer side


@dataclass(frozen=True)
class Judged:
    """A run, its scores on the split, and the rank of every query."""

    name: str
    scores: Float[ndarray, "image text"]
    ranks: dict[str, Int[ndarray, " query"]]


def write_page(page: Path, first: Path, second: Path, advance: Advance) -> None:
    """Score both runs on the split they were judged on and write one self-contained page."""
    runs, corpora = [], []
    for run in (first, second):
        matcher = load(run)
        dataset = prepare_for(run, matcher, "", "", advance)
        scores = scores_of(matcher.model, dataset)
        runs.append(Judged(run.name, scores, judge(scores, dataset.corpus).ranks))
        corpora.append(dataset.corpus)
    if split_sha(corpora[0]) != split_sha(corpora[1]):
        raise EvaluationError(f"{first} and {second} were judged on different splits")
    write_atomic(page, "".join(_page(corpora[0], runs[0], runs[1])).encode())


def _page(corpus: Corpus, first: Judged, second: Judged) -> Iterator[str]:
    names = f"{html.escape(first.name)} and {html.escape(second.name)}"
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>{names}</title>"
    yield "<meta name=viewport content='width=device-width'>"
    yield f"<style>{STYLE}</style><main><h1>{names} side by side</h1>"
    yield "<p>Framed in green: what belongs to the query. Ranks count ties against the system.</p>"
    for way, title in (
        ("t2i", "Texts asking for their image"),
        ("i2t", "Images asking for a text"),
    ):
        # By reciprocal ranks: a query found at once by one and missed by the other says most.
        gain = 1 / first.ranks[way] - 1 / second.ranks[way]
        for better, sign in ((first.name, 1), (second.name, -1)):
            order = np.argsort(-sign * gain, kind="stable")
            chosen = [int(q) for q in order[:SHOWN] if sign * gain[q] > 0]
            yield f"<h2>{title}: won by {html.escape(better)}</h2>"
            for query in chosen:
                yield from _query(corpus, way, query, (first, second))
    yield "</main></html>"


def _query(corpus: Corpus, way: str, query: int, runs: tuple[Judged, Judged]) -> Iterator[str]:
    told = corpus.narrations.get(query) if way == "t2i" else None
    strokes = told.strokes if told else ()
    asked = text_card(corpus, query) if way == "t2i" else image_card(corpus, query, right=False)
    pairs = corpus.pairs if way == "t2i" else corpus.pairs[:, ::-1]
    right = set(pairs[pairs[:, 1] == query, 0].tolist())
    if strokes:
        asked += _shown(with_trace(blank_canvas(THUMBNAIL), strokes), "the trace drawn", "other")
        asked += "".join(image_card(corpus, image, True, strokes) for image in sorted(right))
    yield f"<section><div class=query>{asked}</div>"
    for run in runs:
        yield f"<div><h3>{html.escape(run.name)}, rank {run.ranks[way][query]}</h3>"
        yield "<div class=found>"
        scores = run.scores[:, query] if way == "t2i" else run.scores[query]
        best = nearest(scores[None, :], IMAGES if way == "t2i" else TEXTS).items[0]
        for item in best.tolist():
            if way == "t2i":
                yield image_card(corpus, item, right=item in right, strokes=strokes)
            else:
                yield text_card(corpus, item, right=item in right)
        yield "</div></div>"
    yield "</section>"


def text_card(corpus: Corpus, text: int, right: bool = False) -> str:
    """A text, marked where it answers the query."""
    return f"<p class='{_mark(right)}'>{html.escape(corpus.texts[text])}</p>"


def image_card(corpus: Corpus, image: int, right: bool, strokes: Sequence[Stroke] = ()) -> str:
    """A picture, marked where it answers, with the query's trace over it if there was one."""
    with Image.open(corpus.path(image)) as picture:
        small = picture.convert("RGB")
    small.thumbnail((THUMBNAIL, THUMBNAIL))
    return _shown(with_trace(small, strokes), corpus.files[image], _mark(right))


def _shown(picture: Image.Image, name: str, mark: str) -> str:
    content = io.BytesIO()
    picture.save(content, "JPEG", quality=80)
    data = base64.b64encode(content.getvalue()).decode()
    return f"<img class='{mark}' alt='{html.escape(name)}' src='data:image/jpeg;base64,{data}'>"


def _mark(right: bool) -> str:
    return "right" if right else "other"


STYLE = """
:root { color-scheme: light dark; font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
section { display: grid; grid-template-columns: 1fr 2fr 2fr; gap: 1.2rem; padding: 1rem 0;
          border-top: 1px solid #8884; }
h2 { margin-top: 2.5rem; } h3 { font-size: .85rem; margin: 0 0 .4rem; font-weight: 600; }
.found { display: flex; flex-wrap: wrap; gap: .5rem; }
img { max-height: 6.5rem; max-width: 100%; border-radius: 4px; border: 3px solid #8883; }
p { margin: 0; } .found p { flex-basis: 100%; padding: .2rem .5rem; border-left: 3px solid #8884; }
img.right, p.right { border-color: #2a9d4a; }
.query { font-size: 1.05rem; }
.query p ~ img { box-sizing: border-box; width: 47%; margin-top: .4rem; }
@media (max-width: 45rem) { section { grid-template-columns: 1fr; } }
"""
