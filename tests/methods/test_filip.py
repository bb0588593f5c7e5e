"""FILIP with pointing: a word without a box asks about the thing alone, one with a box where."""

import torch

from deixis.encoders.positions.place_bumps import PlaceBumps
from deixis.methods.filip import FILIP
from deixis.types import Regions, Sizes, Tokens, Trace

MODEL = FILIP(dim=8, place_dim=6, word_dim=8, heads=2, query_depth=1, dropout=0.0).model(
    Sizes(region=4, vocabulary=9)
)


def box(x: float, y: float, side: float = 0.2) -> list[float]:
    return [x - side / 2, x + side / 2, y - side / 2, y + side / 2, side * side]


def tokens(boxes: list[list[float]], words: list[int]) -> Tokens:
    ids = torch.tensor([[1, 4, 5, 2]])
    mask = torch.ones_like(ids, dtype=torch.bool)
    trace = Trace(
        boxes=torch.tensor([boxes or [box(0.5, 0.5)]]),
        mask=torch.tensor([[bool(boxes)] * max(1, len(boxes))]),
        times=torch.zeros(1, max(1, len(boxes)), 2),
        word=torch.tensor([words or [-1]]),
    )
    return Tokens(ids, mask, trace=trace)


def test_codes_of_near_boxes_are_nearer_than_codes_of_far_ones():
    here, near, far, large = PlaceBumps()(
        torch.tensor([box(0.2, 0.2), box(0.25, 0.2), box(0.8, 0.7), box(0.2, 0.2, 0.35)])
    )
    assert here @ near > here @ far
    assert here @ here > here @ large


def test_a_box_moves_the_place_of_its_word_and_nothing_else():
    plain = MODEL.text(tokens([], [])).vectors[0]
    drawn = MODEL.text(tokens([box(0.2, 0.8)], [2])).vectors[0]
    changed = (plain != drawn).any(dim=1)
    assert changed.tolist() == [False, False, True, False]
    assert torch.equal(plain[2, :8], drawn[2, :8])


def test_what_a_region_shows_and_where_it_is_stand_side_by_side():
    values = torch.randn(1, 2, 4)
    boxes = torch.tensor([[box(0.2, 0.2), box(0.7, 0.7)]])
    mask = torch.ones(1, 2, dtype=torch.bool)
    first = MODEL.image(Regions(values, mask, boxes)).vectors
    moved = MODEL.image(Regions(values, mask, boxes.flip(1))).vectors
    torch.testing.assert_close(first[..., :8], moved[..., :8])
    torch.testing.assert_close(first[..., 8:], moved[..., 8:].flip(1))
