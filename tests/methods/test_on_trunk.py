"""Any method over the trunk that all share."""

import pytest
import torch

from deixis.errors import RecipeError
from deixis.losses.infonce import InfoNCE
from deixis.losses.triplet import Triplet
from deixis.methods.aoq import AOQ
from deixis.methods.on_trunk import OnTrunkMethod
from deixis.types import Batch, Regions, Sizes, Tokens

SIZES = Sizes(region=7, image=6, token=5, text=5, vocabulary=30)
NARROW = {
    "vsepp": {},
    "vse_infinity": {},
    "pvse": {},
    "dive": {"head_dim": 4},
    "vsrn": {"captions": False},
    "scan": {},
    "bfan": {},
    "camp": {},
    "text_trace": {"fusion": "none", "word_dim": 8, "heads": 2, "query_depth": 1, "image_depth": 1},
}


def over(name: str, **options: object) -> OnTrunkMethod:
    base = {"name": name, "dim": 8, **NARROW[name]}
    return OnTrunkMethod(base=base, width=8, text_hidden=9, **options)  # type: ignore[arg-type]


def batch(images: int = 4, regions: int = 3, words: int = 5) -> Batch:
    there = torch.ones(images, regions, dtype=torch.bool)
    mask = torch.arange(words) < torch.arange(2, images + 2)[:, None]
    return Batch(
        Regions(
            torch.randn(images, regions, 7), there, torch.rand(images, regions, 5),
            torch.randn(images, 6),
        ),
        Tokens(
            torch.zeros(images, words, dtype=torch.long), mask, torch.randn(images, words, 5),
            torch.randn(images, 5),
        ),
        torch.eye(images, dtype=torch.bool),
    )  # fmt: skip


@pytest.mark.parametrize("name", NARROW)
def test_every_method_learns_over_the_trunk(name):
    method = over(name)
    model, objective = method.model(SIZES), method.objective(SIZES)
    loss = torch.stack([*objective(model(batch()), 0).values()]).sum()
    loss.backward()
    for side in (model.image, model.text):
        trunk = side.body.trunk
        assert trunk.part.weight.grad.abs().sum() > 0
        assert any(p.grad.abs().sum() > 0 for p in trunk.whole.parameters())


def test_every_part_carries_the_whole():
    model = over("scan").model(SIZES).eval()
    given = batch()
    trunk = model.image.body.trunk
    seen = trunk(given.images).values
    with torch.no_grad():
        trunk.part.weight.zero_()
        trunk.part.bias.zero_()
    alone = trunk(given.images).values
    assert not torch.allclose(seen[:, 0], seen[:, 1])
    assert torch.allclose(alone[:, 0], alone[:, 1])


def test_padding_stays_zero_and_changes_nothing():
    model, given = over("scan").model(SIZES).eval(), batch()
    values = model.text.body.trunk(given.texts).values
    assert (values[~given.texts.mask] == 0).all()
    changed = given.texts.values.masked_fill(~given.texts.mask.unsqueeze(2), 9.0)
    padded = Tokens(given.texts.ids, given.texts.mask, changed, given.texts.pooled)
    assert torch.equal(model.text.body.trunk(padded).values, values)


def test_a_channel_is_dropped_in_all_parts_of_an_item_or_in_none():
    method = OnTrunkMethod(base={"name": "scan", "dim": 8}, image_dropout=0.5, text_dropout=0.2)
    model = method.model(SIZES)
    assert model.text.body.trunk.channels.p == 0.2
    trunk = model.image.body.trunk.train()
    kept = trunk.channels(torch.ones(6, 7, 3)) > 0
    assert (kept.all(dim=2) | ~kept.any(dim=2)).all()
    assert kept.any() and not kept.all()


def test_the_loss_is_the_methods_own_or_infonce():
    assert isinstance(over("scan", loss="own").objective(SIZES).losses["rank"], Triplet)
    method = OnTrunkMethod(base={"name": "scan", "dim": 8}, temperature=0.5)
    loss = method.objective(SIZES).losses["rank"]
    assert isinstance(loss, InfoNCE)
    assert loss.log_scale.exp().item() == pytest.approx(2)
    terms = [term.name for term in over("dive", loss="infonce").objective(SIZES).terms]
    assert terms == ["rank", "discrepancy", "diversity"]


def test_a_later_round_goes_over_the_trunk_too():
    base = {"name": "on_trunk", "width": 8, "base": {"name": "vsepp", "dim": 8}}
    method = AOQ(base=base)
    assert method.model(SIZES).image.body.trunk.part.out_features == 8
    assert "rank" in method.objective(SIZES).losses


def test_features_without_a_whole_vector_are_refused():
    model, given = over("vsepp").model(SIZES), batch()
    with pytest.raises(RecipeError, match="whole-item vectors"):
        model.image(Regions(given.images.values, given.images.mask))


def test_a_tower_of_several_bodies_is_refused():
    base = {"name": "text_trace", "dim": 8, "untraced_tower": True, **NARROW["text_trace"]}
    with pytest.raises(RecipeError, match="one body and one head"):
        OnTrunkMethod(base=base, width=8).model(SIZES)
