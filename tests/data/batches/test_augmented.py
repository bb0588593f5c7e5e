"""Dropping regions and words: as often as said, never all, never the ends."""

import pytest
import torch

from deixis.data.batches.augmented import AugmentedBatches, drop_regions, drop_words
from deixis.data.batches.pairs import PairBatches
from deixis.features.words.vocabulary import END, MASK, SPECIAL, START
from deixis.types import Regions, Tokens
from made import made_dataset

WORDS = 1000


def some_tokens(values: bool = False) -> Tokens:
    ids = torch.arange(100, 120).repeat(200, 1)
    ids[:, 0], ids[:, -1] = START, END
    states = ids.unsqueeze(2).float() if values else None
    return Tokens(ids, torch.ones_like(ids, dtype=torch.bool), states)


def test_a_fifth_of_the_words_is_touched_in_the_published_proportions():
    tokens = some_tokens()
    out = drop_words(tokens, 0.2, WORDS, torch.Generator().manual_seed(0))
    inner = 200 * 18
    hidden = (out.ids.eq(MASK) & out.mask).sum().item() / inner
    gone = 1 - (out.mask.sum().item() - 400) / inner
    swapped = (out.mask & (out.ids >= len(SPECIAL)) & ~((out.ids >= 100) & (out.ids < 120))).sum()
    assert hidden == pytest.approx(0.10, abs=0.02)
    assert gone == pytest.approx(0.08, abs=0.02)
    assert swapped.item() / inner == pytest.approx(0.02, abs=0.01)


def test_the_ends_of_a_text_stay_and_gaps_close():
    out = drop_words(some_tokens(), 0.9, WORDS, torch.Generator().manual_seed(0))
    assert (out.ids[:, 0] == START).all()
    lengths = out.mask.sum(dim=1)
    assert (out.ids[torch.arange(200), lengths - 1] == END).all()
    assert (out.mask == (torch.arange(int(lengths.max())) < lengths.unsqueeze(1))).all()


def test_frozen_states_follow_their_words():
    out = drop_words(some_tokens(values=True), 0.5, WORDS, torch.Generator().manual_seed(0))
    assert not out.ids.eq(MASK).any()
    torch.testing.assert_close(out.values[..., 0][out.mask], out.ids[out.mask].float())
    assert out.mask.sum() < 200 * 20


def test_regions_are_dropped_with_their_boxes_and_one_always_stays():
    mask = torch.tensor([[True, True, True], [True, False, False]]).repeat(300, 1)
    values = torch.arange(3.0).view(1, 3, 1).repeat(600, 1, 1)
    boxes = values.expand(-1, -1, 5)
    out = drop_regions(Regions(values, mask, boxes), 0.6, torch.Generator().manual_seed(0))
    assert (out.mask.sum(dim=1) >= 1).all()
    assert out.mask.sum().item() < 0.7 * mask.sum().item()
    torch.testing.assert_close(out.boxes[..., :1], out.values)


def test_a_step_drops_the_same_whenever_it_is_asked_for():
    batches = PairBatches(made_dataset(), 8, seed=0)
    augmented = AugmentedBatches(batches, 0.3, 0.3, 30, seed=0)
    first, again, other = augmented.at(3), augmented.at(3), augmented.at(4)
    torch.testing.assert_close(first.images.values, again.images.values)
    assert first.texts.ids.equal(again.texts.ids)
    assert not first.texts.ids.equal(other.texts.ids)
    assert first.positives.equal(batches.at(3).positives)
