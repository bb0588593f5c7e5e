from dataclasses import replace

import numpy as np
import torch

from deixis.data.batches.pairs import PairBatches
from deixis.data.batches.untraced import WithUntraced
from deixis.features.store.packed import PackedTrace, offsets_of
from made import made_dataset


def traced_batches() -> PairBatches:
    dataset = made_dataset()
    count = len(dataset.texts)
    trace = PackedTrace(
        np.random.default_rng(0).random((count, 5)).astype(np.float32),
        np.zeros((count, 2), dtype=np.float32),
        np.full(count, -1),
        offsets_of([1] * count),
    )
    corpus = replace(dataset.corpus, labels=np.eye(len(dataset.images), dtype=bool))
    traced = replace(dataset, corpus=corpus, tokens=replace(dataset.tokens, trace=trace))
    return PairBatches(traced, 8, 0)


def test_every_text_comes_with_and_without_its_trace_and_belongs_to_the_same_images():
    plain = traced_batches()
    both = WithUntraced(plain)
    assert len(both) == len(plain)
    before, after = plain.at(2), both.at(2)
    with_trace, without = slice(0, 8), slice(8, 16)
    assert after.texts.trace is not None
    assert after.texts.trace.mask[with_trace].all()
    assert not after.texts.trace.mask[without].any()
    for half in (with_trace, without):
        assert torch.equal(after.texts.ids[half], before.texts.ids)
        assert torch.equal(after.positives[:, half], before.positives)
        assert torch.equal(after.text_labels[half], before.text_labels)


def test_captions_without_any_trace_just_come_twice():
    batch = WithUntraced(PairBatches(made_dataset(), 8, 0)).at(0)
    assert batch.texts.trace is None
    assert batch.positives.shape[1] == 16
