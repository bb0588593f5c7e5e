"""AOQ keeps all of a method but its ranking term."""

import pytest
import torch

from deixis.errors import RecipeError
from deixis.losses.caption import Caption
from deixis.losses.quintuplet import Quintuplet
from deixis.methods.aoq import AOQ
from deixis.methods.model import Sizes

SIZES = Sizes(region=8, vocabulary=30)
VSRN = {"name": "vsrn", "dim": 8, "word_dim": 4, "caption_dim": 6, "margin": 0.3}


def test_it_swaps_the_ranking_term_and_keeps_the_others():
    terms = {term.name: term for term in AOQ(base=VSRN).objective(SIZES).terms}
    assert list(terms) == ["rank", "caption"]
    assert isinstance(terms["rank"].loss, Quintuplet)
    assert terms["rank"].loss.margin == 0.3
    assert isinstance(terms["caption"].loss, Caption)


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


def test_a_method_that_ranks_otherwise_is_refused():
    with pytest.raises(RecipeError, match="swaps a triplet"):
        AOQ(base={"name": "camp", "dim": 8}).objective(SIZES)
