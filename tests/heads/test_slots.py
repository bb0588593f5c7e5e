"""Slot heads equal the published set prediction module where that is right, and only there."""

from itertools import product

import pytest
import torch

from deixis.errors import RecipeError
from deixis.heads.pooling import MeanPool
from deixis.heads.sine_positions import grid_positions, text_positions
from deixis.heads.slots import Slots, SlotShape
from slot_goldens import LeakySlots, load_slots, padded_line_codes, shape_of, tensors

SMALL = SlotShape(dim=8, parts=3, iterations=2, heads=2, head_dim=4)


def close(ours, theirs) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


def built(kind, golden, iterations, codes=None):
    whole = golden["global_feat"]
    head = kind(12, shape_of(golden, iterations), lambda places, mask: whole, codes)
    return load_slots(head, golden)


def agrees(head, golden, prefix, mask) -> None:
    with torch.no_grad():
        rounds = list(head.iterate(golden["local"], mask))
        embedding = head(golden["local"], mask)
    close(torch.stack([r.attention for r in rounds], 1), golden[f"{prefix}attn_softmax"])
    close(torch.stack([r.share for r in rounds], 1), golden[f"{prefix}attn_renorm"])
    close(torch.stack([r.slots for r in rounds], 1), golden[f"{prefix}slots_per_iter"])
    close(embedding.residual, golden[f"{prefix}element_slots"])
    close(embedding.vectors, golden[f"{prefix}out_set"])


def test_equals_the_published_module_without_padding(golden):
    arrays = tensors(golden("dive/slot_set_prediction"))
    agrees(built(Slots, arrays, 4), arrays, "nomask_", torch.ones(3, 7, dtype=torch.bool))


def test_equals_the_published_module_with_padding_only_under_its_leaky_mask(golden):
    arrays = tensors(golden("dive/slot_set_prediction"))
    mask = ~arrays["pad_mask"]
    agrees(built(LeakySlots, arrays, 4), arrays, "masked_", mask)
    with torch.no_grad():
        ours = built(Slots, arrays, 4)(arrays["local"], mask).vectors
    close(ours[0], arrays["masked_out_set"][0])  # the one item without padding
    gap = (ours - arrays["masked_out_set"]).abs().amax(dim=(1, 2))
    assert (gap[1:] > 1e-2).all()


def test_equals_the_published_module_with_text_positions(golden):
    arrays = tensors(golden("dive/slot_text_sine1d"))
    mask = ~arrays["pad_mask"]
    close(padded_line_codes(mask, 12), arrays["pos_enc"])
    agrees(built(LeakySlots, arrays, 2, padded_line_codes), arrays, "", mask)
    with torch.no_grad():
        ours = built(Slots, arrays, 2, text_positions)(arrays["local"], mask).vectors
    whole = mask.all(dim=1)
    assert whole.any()
    assert not whole.all()
    close(ours[whole], arrays["out_set"][whole])
    assert (ours[~whole] - arrays["out_set"][~whole]).abs().max() > 1e-2


@pytest.mark.parametrize("codes", [None, text_positions])
@pytest.mark.parametrize(("start", "update"), list(product(["learned", "sampled"], ["sum", "gru"])))
@pytest.mark.parametrize("whole", [None, MeanPool().pool])
def test_padding_changes_neither_values_nor_gradients(start, update, whole, codes):
    shape = SlotShape(8, 3, 2, 2, 4, start=start, update=update)
    head = Slots(8, shape, whole, codes).eval()
    places = torch.randn(2, 4, 8, requires_grad=True)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    wide = torch.cat([places, torch.full((2, 5, 8), 3.0)], dim=1)
    wide_mask = torch.cat([mask, torch.zeros(2, 5, dtype=torch.bool)], dim=1)
    near, far, alone = head(places, mask), head(wide, wide_mask), head(places[1:, :2], mask[1:, :2])
    torch.testing.assert_close(near.vectors, far.vectors, atol=1e-5, rtol=0)
    torch.testing.assert_close(near.vectors[1:], alone.vectors, atol=1e-5, rtol=0)
    (gradient,) = torch.autograd.grad(far.vectors.sum(), places)
    assert gradient.isfinite().all()
    assert gradient[1, 2:].abs().max() == 0


def test_the_order_of_regions_does_not_matter():
    head = Slots(8, SMALL, MeanPool().pool).eval()
    places, mask = torch.randn(2, 5, 8), torch.ones(2, 5, dtype=torch.bool)
    order = torch.randperm(5)
    torch.testing.assert_close(head(places, mask).vectors, head(places[:, order], mask).vectors)


def test_slots_share_out_every_place_that_exists_and_no_other():
    head = Slots(8, SMALL, None)
    mask = torch.tensor([[True, True, False]])
    for turn in head.iterate(torch.randn(1, 3, 8), mask):
        torch.testing.assert_close(turn.attention.sum(dim=2)[0, 0], torch.tensor([1.0, 1.0, 0.0]))
        torch.testing.assert_close(turn.share.sum(dim=3), torch.ones(1, 2, 3))


def test_sampled_slots_are_drawn_anew_in_training_and_fixed_in_evaluation():
    shape = SlotShape(8, 3, 2, 2, 4, dropout=0.0, start="sampled")
    head = Slots(8, shape, None)
    places, mask = torch.randn(1, 5, 8), torch.ones(1, 5, dtype=torch.bool)
    assert not torch.equal(head(places, mask).vectors, head(places, mask).vectors)
    head.eval()
    assert torch.equal(head(places, mask).vectors, head(places, mask).vectors)


def test_grid_codes_distinguish_rows_and_columns_and_refuse_what_is_no_grid():
    codes = grid_positions(torch.ones(2, 9, dtype=torch.bool), 8)
    assert codes.shape == (2, 9, 8)
    square = codes[0].view(3, 3, 8)
    assert torch.equal(square[1, 0, :4], square[1, 2, :4])
    assert torch.equal(square[0, 1, 4:], square[2, 1, 4:])
    torch.testing.assert_close(square[:, 0, :4], text_positions(torch.ones(1, 3).bool(), 4)[0])
    with pytest.raises(RecipeError, match="found 8 places"):
        grid_positions(torch.ones(1, 8, dtype=torch.bool), 8)
    detected = torch.tensor([[[0.0, 0.5, 0.0, 0.5, 0.25], [0.1, 0.9, 0.0, 0.5, 0.4]]])
    with pytest.raises(RecipeError, match="cells of one size"):
        grid_positions(torch.ones(1, 2, dtype=torch.bool), 8, detected)


def cells(rows: int, columns: int) -> torch.Tensor:
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    x, y = x.flatten() / columns, y.flatten() / rows
    area = torch.full_like(x, 1 / (rows * columns))
    return torch.stack([x, x + 1 / columns, y, y + 1 / rows, area], dim=1)


def test_grids_of_any_shape_are_coded_by_their_boxes_each_picture_by_its_own():
    shapes = [(2, 5), (4, 1), (3, 3)]
    boxes, mask = torch.zeros(3, 12, 5), torch.zeros(3, 12, dtype=torch.bool)
    for item, shape in enumerate(shapes):
        found = cells(*shape)
        boxes[item, : len(found)], mask[item, : len(found)] = found, True
    codes = grid_positions(mask, 8, boxes)
    for item, (rows, columns) in enumerate(shapes):
        own = codes[item][mask[item]].view(rows, columns, 8)
        down, right = (text_positions(torch.ones(1, n).bool(), 4)[0] for n in (rows, columns))
        torch.testing.assert_close(own[:, 0, :4], down)
        torch.testing.assert_close(own[0, :, 4:], right)
    square = torch.ones(1, 9, dtype=torch.bool)
    torch.testing.assert_close(
        grid_positions(square, 8), grid_positions(square, 8, cells(3, 3)[None])
    )
