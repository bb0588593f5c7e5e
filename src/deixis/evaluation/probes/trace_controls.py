"""Control queries: the trace removed, exchanged or perturbed.

A control changes narrations or the boxes cut from them; the words stay, except where the trace is
all that is left.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.data.dataset import Dataset
from deixis.data.simulated.scenes.places_in_words import narrations_with_places
from deixis.errors import EvaluationError
from deixis.features.store.packed import PackedTrace
from deixis.features.trace.boxes_of_trace import WINDOW
from deixis.features.trace.narrated_tokens import narrated_tokens
from deixis.features.trace.narration import Narration, Point
from deixis.features.words.vocabulary import SPECIAL, UNKNOWN, Vocabulary

Chance = np.random.Generator
Narrations = Sequence[Narration]
Rewrite = Callable[[Narrations, Chance], list[Narration]]


def narrated(
    dataset: Dataset, vocabulary: Vocabulary | None, rewrite: Rewrite | None = None
) -> Dataset:
    """The dataset with the narrations of its split as queries, optionally rewritten."""
    if vocabulary is None:
        raise EvaluationError(
            "this control changes the words of texts, so it needs a model that reads words"
        )
    corpus = dataset.corpus
    silent = [text for text in range(len(corpus.texts)) if text not in corpus.narrations]
    if silent:
        raise EvaluationError(f"{len(silent)} texts of '{corpus.name}' have no narration")
    narrations = [corpus.narrations[text] for text in range(len(corpus.texts))]
    if rewrite is not None:
        narrations = rewrite(narrations, np.random.default_rng(0))
    trace = dataset.tokens.trace  # new traces are cut as those of the dataset were
    window = WINDOW if trace is None else trace.window
    tokens = narrated_tokens(narrations, vocabulary, window)
    return replace(dataset, tokens=tokens, texts=np.arange(len(narrations)))


def other_trace(narrations: Narrations, chance: Chance) -> list[Narration]:
    """Every query with the trace of another."""
    order = chance.permutation(len(narrations))
    others = dict(zip(order.tolist(), np.roll(order, 1).tolist(), strict=True))
    return [replace(one, strokes=narrations[others[i]].strokes) for i, one in enumerate(narrations)]


def shifted(seconds: float) -> Rewrite:
    """Every trace later than it was drawn, or earlier."""

    def late(stroke: tuple[Point, ...]) -> tuple[Point, ...]:
        return tuple(Point(point.x, point.y, point.t + seconds) for point in stroke)

    def rewrite(narrations: Narrations, chance: Chance) -> list[Narration]:
        return [replace(one, strokes=tuple(map(late, one.strokes))) for one in narrations]

    return rewrite


def without_trace(dataset: Dataset) -> Dataset:
    """Only the words."""
    return replace(dataset, tokens=replace(dataset.tokens, trace=None))


def without_words(dataset: Dataset) -> Dataset:
    """Only the trace: as many words as before, all unknown."""
    ids = dataset.tokens.ids
    return replace(
        dataset, tokens=replace(dataset.tokens, ids=np.where(ids < len(SPECIAL), ids, UNKNOWN))
    )


def shuffled_boxes(dataset: Dataset, seed: int = 0) -> Dataset:
    """The boxes of each trace in random order: places are kept, which word had which is not."""
    trace = _trace(dataset)
    chance = np.random.default_rng(seed)
    # Sorting by owner, by cut and then by chance shuffles windows and words among themselves.
    owner = np.repeat(np.arange(len(trace.offsets) - 1), np.diff(trace.offsets))
    order = np.lexsort((chance.random(len(owner)), trace.word >= 0, owner))
    return _with_boxes(dataset, trace.boxes[order])


def jittered_boxes(dataset: Dataset, amount: float, seed: int = 0) -> Dataset:
    """Every box moved by a normal amount in each direction, as far as the canvas lets it."""
    boxes = _trace(dataset).boxes
    moves = np.random.default_rng(seed).normal(0, amount, size=(len(boxes), 2))
    sides = []
    for axis, (low, high) in enumerate(((boxes[:, 0], boxes[:, 1]), (boxes[:, 2], boxes[:, 3]))):
        move = np.clip(moves[:, axis], -low, 1 - high)
        sides += [low + move, high + move]
    return _with_boxes(dataset, np.stack([*sides, boxes[:, 4]], axis=1).astype(np.float32))


def centred_boxes(dataset: Dataset) -> Dataset:
    """The middle of every box, without any size."""
    across, down = _middles(_trace(dataset).boxes)
    return _with_boxes(dataset, np.stack([across, across, down, down, 0 * down], axis=1))


def coarse_boxes(dataset: Dataset, cells: int = 3) -> Dataset:
    """Every box replaced by the cell of a coarse grid that contains its centre."""
    middles = np.stack(_middles(_trace(dataset).boxes), axis=1)
    low = np.minimum(np.floor(cells * middles), cells - 1) / cells
    sides = np.stack([low, low + 1 / cells], axis=2).reshape(-1, 4)
    area = np.full((len(sides), 1), 1 / cells**2)
    return _with_boxes(dataset, np.concatenate([sides, area], axis=1).astype(np.float32))


def places_in_words(dataset: Dataset, vocabulary: Vocabulary | None) -> Dataset:
    """Simulated narrations with a true place word for each thing, without any trace."""
    narrations = narrations_with_places(dataset.corpus)
    return without_trace(narrated(dataset, vocabulary, lambda *_: narrations))


def _middles(
    boxes: Float[ndarray, "row 5"],
) -> tuple[Float[ndarray, " row"], Float[ndarray, " row"]]:
    return (boxes[:, 0] + boxes[:, 1]) / 2, (boxes[:, 2] + boxes[:, 3]) / 2


def _trace(dataset: Dataset) -> PackedTrace:
    if dataset.tokens.trace is None:
        raise EvaluationError(f"the queries of '{dataset.corpus.name}' have no traces")
    return dataset.tokens.trace


def _with_boxes(dataset: Dataset, boxes: Float[ndarray, "row 5"]) -> Dataset:
    tokens = replace(dataset.tokens, trace=replace(_trace(dataset), boxes=boxes))
    return replace(dataset, tokens=tokens)


def _jittered(dataset: Dataset, _: Vocabulary | None, amount: float) -> Dataset:
    return jittered_boxes(dataset, amount)


def _shifted(dataset: Dataset, vocabulary: Vocabulary | None, seconds: float) -> Dataset:
    return narrated(dataset, vocabulary, shifted(seconds))


CONTROLS: dict[str, Callable[[Dataset, Vocabulary | None], Dataset]] = {
    "no trace": lambda dataset, _: without_trace(dataset),
    "trace alone": lambda dataset, _: without_words(dataset),
    "trace of another": lambda dataset, words: narrated(dataset, words, other_trace),
    "boxes shuffled": lambda dataset, _: shuffled_boxes(dataset),
    "middles alone": lambda dataset, _: centred_boxes(dataset),
    "3 x 3 cells": lambda dataset, _: coarse_boxes(dataset),
    "places in words": places_in_words,
    **{f"jitter {amount}": partial(_jittered, amount=amount) for amount in (0.02, 0.05, 0.1)},
    **{
        f"{seconds:+g} s": partial(_shifted, seconds=seconds)
        for seconds in (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)
    },
}


def controlled(dataset: Dataset, vocabulary: Vocabulary | None, control: str) -> Dataset:
    """The queries of a split under a control, by its name."""
    if control not in CONTROLS:
        raise EvaluationError(f"there is no control '{control}'; known: {', '.join(CONTROLS)}")
    return CONTROLS[control](dataset, vocabulary)
