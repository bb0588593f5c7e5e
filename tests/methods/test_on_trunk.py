"""Any method over the trunk that all share."""

import pytest
import torch

from deixis.encoders.trunk import Trunk
from deixis.errors import RecipeError
from deixis.losses.infonce import InfoNCE
from deixis.losses.triplet import Triplet
from deixis.methods.aoq import AOQ
from deixis.methods.on_trunk import OnTrunkMethod
from deixis.methods.two_tower import TwoTower
from deixis.recipes.run_row import taken
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
        assert trunk.part.weight.grad.abs().sum() > 0  # which starts at zero
        assert any(p.grad.abs().sum() > 0 for p in trunk.whole.parameters())


def learnt(trunk: Trunk) -> Trunk:
    """A trunk whose map of parts is no longer zero."""
    torch.nn.init.normal_(trunk.part.weight)
    return trunk


def test_every_part_carries_the_whole():
    model, given = over("scan").model(SIZES).eval(), batch()
    trunk = model.image.body.trunk
    alone = trunk(given.images).values
    seen = learnt(trunk)(given.images).values
    assert not torch.allclose(seen[:, 0], seen[:, 1])
    assert torch.allclose(alone[:, 0], alone[:, 1])
    assert torch.allclose(alone.norm(dim=2), torch.ones(4, 3))


def test_places_are_of_unit_length_where_asked():
    given = batch()
    trunk = learnt(over("scan", unit=True).model(SIZES).text.body.trunk)
    lengths = trunk(given.texts).values.norm(dim=2)
    assert torch.allclose(lengths, given.texts.mask.float(), atol=1e-5)


def test_a_narrower_map_begins_with_the_same_numbers_on_both_sides():
    base = {"name": "camp", "dim": 4, "attend": False, "fuse": False}
    model = OnTrunkMethod(base=base, width=8, text_hidden=9).model(SIZES)
    for side in (model.image, model.text):
        assert torch.equal(side.body.body.linear.weight, torch.eye(4, 8))


EXACT = {"vsepp": {}, "vse_infinity": {}, "scan": {"pool": "mean"}, "bfan": {}}
CAMP = ({"attend": False, "fuse": False}, {"fuse": False})
# Each centres its vectors or rounds them in some other way, which moves a score by little.
NEAR = {
    "vsrn": ({},),
    "pvse": ({},),
    "text_trace": ({"dropout": 0.0},),
    "dive": ({}, {"whole": False}),
    "camp": ({}, {"attend": False}),
}


def begun(name: str, **options: object) -> tuple[torch.Tensor, torch.Tensor]:
    """The scores of a method over two towers, and theirs."""
    wide = 64
    towers = TwoTower(dim=wide, image_hidden=0, text_hidden=9)
    before, given = towers.model(SIZES).eval(), batch()
    narrow = {"word_dim": wide} if name == "text_trace" else {}
    base = {"name": name, **NARROW[name], **narrow, "dim": wide, **options}
    base |= {"head_dim": wide // 4} if name == "dive" else {}
    model = OnTrunkMethod(base=base, width=wide, text_hidden=9).model(SIZES).eval()
    weights = taken(
        before.state_dict(),
        {"image.body.trunk.whole.": "image.body.", "text.body.trunk.whole.": "text.body."},
    )
    assert not model.load_state_dict(weights, strict=False).unexpected_keys
    with torch.no_grad():
        return model(given).scores, before(given).scores


@pytest.mark.parametrize("name", EXACT)
def test_over_two_trained_towers_a_method_begins_with_their_scores(name):
    scores, wanted = begun(name, **EXACT[name])
    directions = 2 if name == "bfan" else 1  # which BFAN adds up
    assert torch.allclose(scores, directions * wanted, atol=1e-3)


@pytest.mark.parametrize("options", CAMP)
def test_camp_without_fusion_begins_with_the_scores_of_two_towers(options):
    scores, wanted = begun("camp", **options)
    assert torch.allclose(scores, wanted, atol=1e-5)


@pytest.mark.parametrize(("name", "options"), [(n, o) for n, some in NEAR.items() for o in some])
def test_other_methods_begin_near_the_scores_of_two_towers(name, options):
    scores, wanted = begun(name, **options)
    together = torch.corrcoef(torch.stack([scores.flatten(), wanted.flatten()]))
    assert together[0, 1] > 0.9


def test_padding_stays_zero_and_changes_nothing():
    model, given = over("scan").model(SIZES).eval(), batch()
    learnt(model.text.body.trunk)
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


def test_a_share_of_the_wholes_is_dropped_in_training_alone():
    towers = over("scan", image_dropout=0.0, drop_whole=0.5).model(SIZES)
    trunk, given = towers.image.body.trunk, batch(images=200).images
    with torch.no_grad():
        kept = trunk.eval()(given).values
        dropped = trunk.train()(given).values
    assert (kept.norm(dim=2) > 0.5).all()
    lost = dropped.norm(dim=2) < 0.5
    assert (lost.all(dim=1) | ~lost.any(dim=1)).all(), "an item loses its whole in all its parts"
    assert 60 < lost[:, 0].sum() < 140
    assert (dropped.norm(dim=2) > 0).all(), "of a part that is zero no direction can be learnt"


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
