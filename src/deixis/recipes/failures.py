"""What a run finds wrongly where labels judge, with the kind of error as far as labels tell."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.errors import EvaluationError
from deixis.evaluation.encode import encode
from deixis.evaluation.labelled import labels_of
from deixis.features.files import write_atomic
from deixis.methods.matcher import load
from deixis.recipes.prepare import Advance, prepare_for
from deixis.recipes.sidebyside import IMAGES, SHOWN, STYLE, TEXTS, image_card, text_card
from deixis.similarity.blocks import score_matrix
from deixis.similarity.nearest import nearest

CONFUSION, KINSHIP = "semantic confusion", "super-class confusion"

Labels = Bool[ndarray, "item label"]


@dataclass(frozen=True)
class Side:
    """One modality: the labels its items have, and those the model tells.

    A label is told above one half; where none is, the likeliest is, since items are ranked by it.
    """

    true: Labels
    told: Labels

    @classmethod
    def of(cls, true: Labels, logits: Float[ndarray, "item label"]) -> "Side":
        """The labels told, from their logits."""
        return cls(true, (logits > 0) | (logits == logits.max(axis=1, keepdims=True)))


@dataclass(frozen=True)
class Judge:
    """Says why a hit is wrong.

    *Semantic confusion*: model and labels disagree, query and hit are told to share a label that
    they do not share. *Super-class confusion*: they have labels of one super-class. A hit that
    shares a label is right; one of which nothing of this is true is wrong without a name.
    """

    kin: Bool[ndarray, "label label"]  # labels of one super-class; no label is its own kin

    def kinds(self, query: Side, asked: int, items: Side, hit: int) -> list[str]:
        """The kinds of error of a hit; a right one has none."""
        true, found = query.true[asked], items.true[hit]
        if (true & found).any():
            return []
        confused = (query.told[asked] & items.told[hit]).any()
        related = self.kin[np.ix_(true, found)].any()
        return [kind for kind, is_so in ((CONFUSION, confused), (KINSHIP, related)) if is_so]


def kin_of(groups: Sequence[str], names: Sequence[str]) -> Bool[ndarray, "label label"]:
    """Which labels are of one super-class, from groups such as ``man|woman|boy``."""
    kin = np.zeros((len(names), len(names)), dtype=bool)
    for group in groups:
        members = group.split("|")
        for member in members:
            if member not in names:
                listed = ", ".join(names)
                raise EvaluationError(f"'{member}' is no label of the corpus; it has: {listed}")
        places = [names.index(member) for member in members]
        kin[np.ix_(places, places)] = True
    np.fill_diagonal(kin, False)
    return kin


def worst(
    scores: Float[ndarray, "query item"], queries: Side, items: Side, top: int
) -> tuple[list[int], Int[ndarray, "query top"]]:
    """Queries by how many of their first hits share no label, and those hits."""
    best = nearest(scores, top).items
    wrong = ~(queries.true[:, None] & items.true[best]).any(axis=2)
    failed = wrong.sum(axis=1) * queries.true.any(axis=1)
    order = np.argsort(-failed, kind="stable")
    return [int(query) for query in order if failed[query]], best


def write_failures(page: Path, run: Path, groups: Sequence[str], advance: Advance) -> None:
    """Rank the split a run was judged on and write its worst queries, both ways, on one page."""
    matcher = load(run)
    dataset = prepare_for(run, matcher, "", "", advance)
    corpus = dataset.corpus
    images, texts = encode(matcher.model, dataset)
    if not isinstance(images.labels, torch.Tensor) or not isinstance(texts.labels, torch.Tensor):
        raise EvaluationError(
            f"{run}: this method tells no labels, so they cannot say why it fails"
        )
    scores = score_matrix(matcher.model.similarity, images, texts).numpy()
    of_images, of_texts = labels_of(corpus)
    sides = {
        "image": Side.of(of_images, images.labels.numpy()),
        "text": Side.of(of_texts, texts.labels.numpy()),
    }
    judge = Judge(kin_of(groups, corpus.label_names))
    write_atomic(page, "".join(_page(run.name, corpus, scores, sides, judge)).encode())


def _page(
    name: str,
    corpus: Corpus,
    scores: Float[ndarray, "image text"],
    sides: dict[str, Side],
    judge: Judge,
) -> Iterator[str]:
    title = f"Failures of {html.escape(name)}"
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
    yield f"<meta name=viewport content='width=device-width'><style>{STYLE}{MORE}</style>"
    yield f"<main><h1>{title}</h1><p>Hits that share a label with the query are framed in green, "
    yield "and so are the labels. <b class=kind>Semantic confusion</b>: the model tells a label of "
    yield "both that they do not share. <b class='kind kin'>Super-class confusion</b>: both have "
    yield "labels of one super-class.</p>"
    ways = (("image", "text", scores, TEXTS), ("text", "image", scores.T, IMAGES))
    for asking, asked_for, ranked, top in ways:
        queries, items = sides[asking], sides[asked_for]
        chosen, best = worst(np.ascontiguousarray(ranked), queries, items, top)
        share = 100 * len(chosen) / max(1, int(queries.true.any(axis=1).sum()))
        yield f"<h2>{asking.capitalize()}s asking for {asked_for}s</h2>"
        yield f"<p>{share:.1f} % of the queries find an item without a shared label among "
        yield f"their first {top}.{' The worst of them:' if chosen else ''}</p>"
        for query in chosen[:SHOWN]:
            yield f"<section><div class=query>{_card(corpus, asking, query, None)}"
            yield f"{_labels(corpus, queries, query, queries.true[query])}</div><div class=found>"
            for hit in best[query].tolist():
                shared = bool((queries.true[query] & items.true[hit]).any())
                kinds = judge.kinds(queries, query, items, hit)
                yield f"<div class=hit>{_card(corpus, asked_for, hit, shared)}"
                yield _labels(corpus, items, hit, queries.true[query])
                yield "".join(map(_badge, kinds)) + "</div>"
            yield "</div></section>"
    yield "</main></html>"


def _card(corpus: Corpus, side: str, item: int, right: bool | None) -> str:
    if side == "text":
        return text_card(corpus, item, right=bool(right))
    return image_card(corpus, item, right=bool(right))


def _labels(corpus: Corpus, side: Side, item: int, asked: Bool[ndarray, " label"]) -> str:
    """An item's labels, those of the query marked; what the model tells beside them."""
    names = [html.escape(name) for name in corpus.label_names]
    true = "".join(
        f"<li class={'shared' if asked[label] else 'own'}>{names[label]}</li>"
        for label in np.flatnonzero(side.true[item])
    )
    told = ", ".join(names[label] for label in np.flatnonzero(side.told[item]))
    return f"<ul>{true}</ul><small>told: {told}</small>"


def _badge(kind: str) -> str:
    return f"<b class='kind{' kin' if kind == KINSHIP else ''}'>{kind}</b>"


MORE = """
section { grid-template-columns: 1fr 3fr; }
ul { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem; margin: .3rem 0; padding: 0; }
li { font-size: .8rem; padding: 0 .5rem; border-radius: 1rem; background: #8882; }
li.shared { background: #2a9d4a44; } small { display: block; opacity: .75; }
.found { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: 1rem; }
.found img { max-height: 11rem; }
.kind { display: inline-block; font-size: .75rem; padding: .1rem .5rem; border-radius: 4px; }
.kind { background: #d9822b44; }
.kind.kin { background: #7b53c444; }
"""
