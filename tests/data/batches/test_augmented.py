"""Dropping regions and words: as often as said, never all, never the ends."""

from dataclasses import replace

import pytest
import torch

from deixis.data.batches.augmented import AugmentedBatches, drop_regions, drop_words
from deixis.data.batches.pairs import PairBatches
from deixis.errors import RecipeError
from deixis.features.words.masking import Masking, of_pieces
from deixis.features.words.vocabulary import END, MASK, SPECIAL, START
from deixis.types import Regions, Tokens, Trace
from made import made_dataset

WORDS = Masking.of_vocabulary(1000)


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


def test_boxes_of_a_trace_follow_their_words():
    words = torch.tensor([[3, 7, 11, -1]]).repeat(200, 1)
    boxes, there = torch.rand(200, 4, 5), torch.ones(200, 4, dtype=torch.bool)
    tokens = some_tokens(values=True)
    tokens = replace(tokens, trace=Trace(boxes, there, boxes[..., :2], words))
    out = drop_words(tokens, 0.5, WORDS, torch.Generator().manual_seed(0))
    assert out.trace is not None and out.trace.boxes.equal(boxes)
    now, found = out.trace.word, out.trace.word >= 0
    row = torch.arange(200).unsqueeze(1)
    assert out.ids[row, now][found].equal(tokens.ids[row, words][found])
    gone = ~found & (words >= 0)
    assert 0 < gone.sum() < 0.6 * 600 and not found[:, 3].any()


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
    augmented = AugmentedBatches(batches, 0.3, 0.3, Masking.of_vocabulary(30), seed=0)
    first, again, other = augmented.at(3), augmented.at(3), augmented.at(4)
    torch.testing.assert_close(first.images.values, again.images.values)
    assert first.texts.ids.equal(again.texts.ids)
    assert not first.texts.ids.equal(other.texts.ids)
    assert first.positives.equal(batches.at(3).positives)


def some_pieces() -> tuple[Tokens, Masking]:
    """Ten words of two pieces each between marks: an odd piece goes on with the even one before."""
    pieces = [*("##on" if id % 2 else "word" for id in range(80)), "[MASK]"]
    pieces[1] = "[CLS]"
    ids = torch.tensor([1, *range(40, 60), 2]).repeat(300, 1)
    return Tokens(ids, torch.ones_like(ids, dtype=torch.bool)), of_pieces(pieces, 80)


def test_the_pieces_of_a_word_share_its_fate_and_the_towers_own_mark_hides_them():
    tokens, masking = some_pieces()
    out = drop_words(tokens, 0.4, masking, torch.Generator().manual_seed(0))
    hidden = (out.ids == 80) & out.mask
    assert hidden.sum().item() / (300 * 20) == pytest.approx(0.4 * 0.5, abs=0.03)
    lost = tokens.mask.sum(dim=1) - out.mask.sum(dim=1)
    assert lost.sum() > 0 and (lost % 2 == 0).all()  # both pieces of a word, or neither
    assert (hidden[:, 1:].sum(dim=1) % 2 == 0).float().mean() > 0.95  # 80 is also swapped in
    assert (out.ids[:, 0] == 1).all()


def test_a_tower_without_a_mark_for_hidden_words_is_refused():
    batches = PairBatches(made_dataset(), 8, seed=0)
    clip = of_pieces(["a</w>", "dog</w>"], None)
    AugmentedBatches(batches, 0.3, 0.0, clip, seed=0).at(0)
    with pytest.raises(RecipeError, match="set train.drop_words = 0"):
        AugmentedBatches(batches, 0.0, 0.2, clip, seed=0)
