"""A page of the wrong hits of a run judged by labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.errors import EvaluationError
from deixis.evaluation.protocols.label_protocol import labels_of
from deixis.pages.cards import Card, image_card, text_card
from deixis.pages.label_errors import HitErrors, LabelledSide, related_labels, worst
from deixis.pages.render import write_html
from deixis.pages.run_comparison import IMAGES, SHOWN, TEXTS
from deixis.runs.advance import Advance
from deixis.runs.embed_dataset import encode
from deixis.runs.run import Run
from deixis.similarity.blocked.blocked_scoring import score_matrix


@dataclass(frozen=True)
class LabelledCard:
    """An item with its labels, each marked where the query has it, and the predicted ones."""

    card: Card
    labels: Sequence[tuple[str, bool]]
    predicted: Sequence[str]
    errors: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """Values that JSON can hold: no picture, only its name."""
        labels = [name for name, _ in self.labels]
        predicted, errors = list(self.predicted), list(self.errors)
        item = {"item": self.card.label, "labels": labels, "predicted": predicted}
        return item | {"right": self.card.right, "errors": errors}


@dataclass(frozen=True)
class FailureSection:
    """The worst queries of one direction, with their first hits."""

    asking: str
    asked_for: str
    share: float  # percent of the queries with a wrong hit among the first
    top: int
    queries: Sequence[tuple[LabelledCard, Sequence[LabelledCard]]]

    def to_dict(self) -> dict[str, Any]:
        """Values that JSON can hold."""
        shown = [
            {"query": query.to_dict(), "hits": [hit.to_dict() for hit in hits]}
            for query, hits in self.queries
        ]
        direction = {"asking": self.asking, "asked_for": self.asked_for}
        return direction | {"share": self.share, "top": self.top, "queries": shown}


def label_failures(
    run: Run, groups: Sequence[str], advance: Advance, split: str = ""
) -> list[FailureSection]:
    """Rank a split, by default the one the run was judged on, and find the worst queries."""
    model, dataset = run.matcher.model, run.dataset(split, advance=advance)
    corpus = dataset.corpus
    images, texts = encode(model, dataset)
    if not isinstance(images.labels, torch.Tensor) or not isinstance(texts.labels, torch.Tensor):
        raise EvaluationError(f"{run}: this method predicts no labels, so none explain its errors")
    scores = score_matrix(model.similarity, images, texts).numpy()
    true = labels_of(corpus)
    sides = {
        "image": LabelledSide.of(true[0], images.labels.numpy()),
        "text": LabelledSide.of(true[1], texts.labels.numpy()),
    }
    errors = HitErrors(related_labels(groups, corpus.label_names))
    return [
        failure_section(corpus, scores, sides, ("image", "text"), errors),
        failure_section(corpus, scores.T, sides, ("text", "image"), errors),
    ]


def write_failures(
    page: Path, run: Run, groups: Sequence[str], advance: Advance, split: str = ""
) -> list[FailureSection]:
    """Write the worst queries of a run, both ways, on one page."""
    sections = label_failures(run, groups, advance, split)
    write_html(page, "failures", title=f"Failures of {run.name}", sections=sections)
    return sections


def failure_section(
    corpus: Corpus,
    scores: Float[ndarray, "query item"],
    sides: dict[str, LabelledSide],
    direction: tuple[str, str],
    errors: HitErrors,
) -> FailureSection:
    """The worst queries of one direction and their hits."""
    asking, asked_for = direction
    queries, items = sides[asking], sides[asked_for]
    top = TEXTS if asked_for == "text" else IMAGES
    chosen, best = worst(np.ascontiguousarray(scores), queries, items, top)
    share = 100 * len(chosen) / max(1, int(queries.true.any(axis=1).sum()))
    shown, no_label = [], np.zeros(len(corpus.label_names), dtype=bool)
    for query in chosen[:SHOWN]:
        asked = queries.true[query]
        hits = [
            labelled_card(
                corpus, asked_for, items, hit, asked, errors.kinds(queries, query, items, hit)
            )
            for hit in best[query].tolist()
        ]
        shown.append((labelled_card(corpus, asking, queries, query, no_label), hits))
    return FailureSection(asking, asked_for, share, top, shown)


def labelled_card(
    corpus: Corpus,
    kind: str,
    side: LabelledSide,
    item: int,
    asked: Bool[ndarray, " label"],
    errors: Sequence[str] = (),
) -> LabelledCard:
    """An item, its labels and the predicted ones."""
    names, true = corpus.label_names, side.true[item]
    right = bool((true & asked).any())
    card = (
        image_card(corpus, item, right=right)
        if kind == "image"
        else text_card(corpus, item, right=right)
    )
    labels = [(names[label], bool(asked[label])) for label in np.flatnonzero(true)]
    predicted = [names[label] for label in np.flatnonzero(side.predicted[item])]
    return LabelledCard(card, labels, predicted, errors)
