"""AOQ keeps all of a method but its ranking term."""

from dataclasses import replace

import pytest
import torch

from deixis.data.batches.mined import MinedBatches
from deixis.data.batches.pairs import PairBatches
from deixis.errors import RecipeError
from deixis.losses.captioning import Captioning
from deixis.losses.quintuplet import Quintuplet, needs_partners
from deixis.methods.aoq import AOQ
from deixis.types import Sizes
from made import made_dataset
from made import made_negatives as made

SIZES = Sizes(region=8, vocabulary=30)
VSRN = {"name": "vsrn", "dim": 8, "word_dim": 4, "caption_dim": 6, "margin": 0.3}
VSEPP = {"name": "vsepp", "dim": 8, "word_dim": 4}


def test_it_swaps_the_ranking_term_and_keeps_the_others():
    terms = {term.name: term for term in AOQ(base=VSRN).objective(SIZES).terms}
    assert list(terms) == ["rank", "caption"]
    assert isinstance(terms["rank"].loss, Quintuplet)
    assert terms["rank"].loss.margin == 0.3
    assert isinstance(terms["caption"].loss, Captioning)


def test_its_model_is_the_base_s():
    torch.manual_seed(0)
    ours = AOQ(base=VSRN).model(SIZES).state_dict()
    torch.manual_seed(0)
    base = AOQ(base=VSRN).wrapped().model(SIZES).state_dict()
    assert ours.keys() == base.keys()
    assert all(torch.equal(ours[key], base[key]) for key in ours)


@pytest.mark.parametrize(
    ("variant", "quintuplets", "weighed"),
    [("OffTri", False, False), ("OffQuin", True, False), ("AdapOffQuin", True, True)],
)
def test_variants_are_the_paper_s(variant, quintuplets, weighed):
    loss = AOQ(base=VSRN, variant=variant).objective(SIZES).losses["rank"]
    assert (loss.quintuplets, loss.weigh is not None) == (quintuplets, weighed)


def test_offtri_embeds_no_partners_and_is_none_the_worse():
    dataset = made_dataset()
    plain = PairBatches(dataset, 8, seed=1)
    whole, lean = (MinedBatches(plain, made(dataset), partners=p).at(0) for p in (True, False))
    assert len(lean.images.mask) < len(whole.images.mask)
    method = AOQ(base=VSEPP, variant="OffTri")
    model, objective = method.model(SIZES), method.objective(SIZES)
    assert not needs_partners(objective)
    assert needs_partners(AOQ(base=VSRN, variant="OffQuin").objective(SIZES))
    found = []
    for batch in (whole, lean):
        model.zero_grad()
        term = objective(model(batch), 0)["rank"]
        term.backward()
        found.append([term, *(p.grad for p in model.parameters())])
    torch.testing.assert_close(*found)
    with pytest.raises(RecipeError, match="need partners of mined items"):
        AOQ(base=VSEPP).objective(SIZES)(AOQ(base=VSEPP).model(SIZES)(lean), 0)


CAMP = {"name": "camp", "dim": 8, "word_dim": 4}
TRACE = {"name": "text_trace", "dim": 8, "word_dim": 8, "heads": 2, "query_depth": 1,
         "image_depth": 1, "dropout": 0.0, "layer_dropout": 0.0}  # fmt: skip


@pytest.mark.parametrize(("base", "squash"), [(CAMP, True), (TRACE, False)])
def test_bases_that_match_or_contrast_are_ranked_by_quintuplets_and_learn(base, squash):
    method = AOQ(base=base, margin=0.1, offline_margin=0.1)
    dataset = made_dataset(boxes=True) if base is TRACE else made_dataset()
    batch = MinedBatches(PairBatches(dataset, 8, seed=1), made(dataset)).at(0)
    model, objective = method.model(SIZES), method.objective(SIZES)
    loss = objective.losses["rank"]
    assert (loss.margin, loss.squash) == (0.1, squash)
    out = model(batch)
    term = loss(out, 0)
    plain = Quintuplet(0.1, 0.1, weigh=loss.weigh, reduction=loss.reduction)
    if squash:
        mined = {key: getattr(out.offline, key).sigmoid() for key in ("hard_text", "hard_image")}
        for key in ("across", "partners"):
            pairs = getattr(out.offline, key)
            mined[key] = replace(pairs, scores=pairs.scores.sigmoid())
        out = replace(out, scores=out.scores.sigmoid(), offline=replace(out.offline, **mined))
    torch.testing.assert_close(term, plain(out, 0))
    term.backward()
    assert model.text.body.state_dict().keys() and _moves(model.text) and _moves(model.image)


def _moves(tower):
    return any(p.grad is not None and p.grad.abs().sum() > 0 for p in tower.parameters())


def test_a_method_without_a_term_over_the_whole_batch_is_refused():
    with pytest.raises(RecipeError, match="ranks some texts separately"):
        AOQ(base={**TRACE, "untraced_tower": True}).objective(SIZES)
    with pytest.raises(RecipeError, match="its loss uses labels"):
        AOQ(base={"name": "dscmr"}).objective(Sizes(region=8, vocabulary=30, labels=3))
