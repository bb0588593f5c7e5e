from dataclasses import replace

import numpy as np
import pytest

from deixis.data.dataset import Dataset
from deixis.errors import EvaluationError
from deixis.evaluation.probes.trace_controls import (
    centred_boxes,
    coarse_boxes,
    jittered_boxes,
    narrated,
    other_trace,
    shifted,
    shuffled_boxes,
    without_trace,
    without_words,
)
from deixis.features.trace.narration import Narration, Point
from deixis.features.words.vocabulary import SPECIAL, UNKNOWN, Vocabulary
from made import made_dataset

VOCABULARY = Vocabulary.count([str(word) for word in range(30)])


def narrated_dataset(count: int = 6) -> Dataset:
    """Texts whose traces are straight lines, each at its own height."""
    dataset = made_dataset(images=count, texts_per_image=1)
    lines = {
        text: Narration(
            dataset.corpus.texts[text],
            strokes=(tuple(Point(i / 20, text / 10, i / 10) for i in range(20)),),
        )
        for text in range(count)
    }
    return narrated(replace(dataset, corpus=replace(dataset.corpus, narrations=lines)), VOCABULARY)


def heights(dataset: Dataset) -> list[set[float]]:
    trace = dataset.tokens.trace
    assert trace is not None
    cuts = zip(trace.offsets[:-1], trace.offsets[1:], strict=True)
    middles = np.round((trace.boxes[:, 2] + trace.boxes[:, 3]) / 2, 2)
    return [set(middles[start:end].tolist()) for start, end in cuts]


def test_every_query_gets_the_trace_of_another():
    dataset = narrated_dataset()
    exchanged = narrated(dataset, VOCABULARY, other_trace)
    before, after = heights(dataset), heights(exchanged)
    assert all(a.isdisjoint(b) for a, b in zip(before, after, strict=True))
    assert sorted(map(sorted, before)) == sorted(map(sorted, after))
    assert np.array_equal(dataset.tokens.ids, exchanged.tokens.ids)


def test_shuffled_boxes_stay_with_their_text_and_their_cut():
    dataset = narrated_dataset()
    shuffled = shuffled_boxes(dataset)
    before, after = dataset.tokens.trace, shuffled.tokens.trace
    assert before is not None
    assert after is not None
    assert not np.array_equal(before.boxes, after.boxes)
    for start, end in zip(before.offsets[:-1], before.offsets[1:], strict=True):
        for cut in (before.word[start:end] < 0, before.word[start:end] >= 0):
            rows = [np.sort(t.boxes[start:end][cut], axis=0) for t in (before, after)]
            assert np.array_equal(*rows)


def test_a_later_trace_moves_places_to_later_words():
    dataset = narrated_dataset()
    late = narrated(dataset, VOCABULARY, shifted(0.35))
    before, after = dataset.tokens.trace, late.tokens.trace
    assert before is not None
    assert after is not None
    of_word = {}
    for name, trace in (("before", before), ("after", after)):
        rows = np.flatnonzero(trace.word[: trace.offsets[1]] == 2)
        of_word[name] = trace.boxes[rows[0], :2].mean()
    assert of_word["after"] < of_word["before"]


@pytest.mark.parametrize("amount", [0.02, 0.5])
def test_jitter_moves_boxes_without_changing_their_size(amount):
    before, after = (
        narrated_dataset().tokens.trace,
        jittered_boxes(narrated_dataset(), amount).tokens.trace,
    )
    assert before is not None
    assert after is not None
    sides = [t.boxes[:, [1, 3]] - t.boxes[:, [0, 2]] for t in (before, after)]
    assert np.allclose(*sides, atol=1e-6)
    assert after.boxes.min() >= 0
    assert after.boxes.max() <= 1 + 1e-6
    assert not np.allclose(before.boxes, after.boxes, atol=amount / 10)


def test_words_alone_and_trace_alone():
    dataset = narrated_dataset()
    assert without_trace(dataset).tokens.trace is None
    ids = without_words(dataset).tokens.ids
    assert set(ids.tolist()) <= {UNKNOWN, *range(len(SPECIAL))}
    assert len(ids) == len(dataset.tokens.ids)


def test_texts_without_narrations_are_refused():
    with pytest.raises(EvaluationError, match="12 texts of 'made' have no narration"):
        narrated(made_dataset(images=6), VOCABULARY)


def test_middles_keep_the_place_and_lose_the_size():
    dataset = narrated_dataset()
    before, after = dataset.tokens.trace.boxes, centred_boxes(dataset).tokens.trace.boxes
    np.testing.assert_allclose(after[:, 0], (before[:, 0] + before[:, 1]) / 2, atol=1e-6)
    assert np.array_equal(after[:, 2], after[:, 3])
    assert not after[:, 4].any()


def test_cells_hold_the_middles_of_their_boxes():
    dataset = narrated_dataset()
    before, after = dataset.tokens.trace.boxes, coarse_boxes(dataset).tokens.trace.boxes
    for low, high in ((0, 1), (2, 3)):
        middle = (before[:, low] + before[:, high]) / 2
        assert np.all((after[:, low] <= middle + 1e-6) & (middle - 1e-6 <= after[:, high]))
        np.testing.assert_allclose(after[:, high] - after[:, low], 1 / 3, atol=1e-6)
    assert len(np.unique(after, axis=0)) <= 9
