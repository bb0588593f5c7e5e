import pytest
import torch

from deixis.errors import RecipeError
from deixis.methods.two_tower import TwoTower
from deixis.types import Regions, Sizes, Tokens

SIZES = Sizes(region=3, image=12, text=10)


def regions(pooled: torch.Tensor | None) -> Regions:
    one = torch.ones(4, 1, dtype=torch.bool)
    return Regions(torch.zeros(4, 1, 3), one, pooled=pooled)


def tokens() -> Tokens:
    ids, one = torch.zeros(4, 1, dtype=torch.long), torch.ones(4, 1, dtype=torch.bool)
    return Tokens(ids, one, pooled=torch.randn(4, 10))


def test_each_side_drops_its_own_share_of_features():
    torch.manual_seed(0)
    model = TwoTower(dim=8, image_hidden=0, image_dropout=0.5, text_dropout=0.0).model(SIZES)
    model.train()
    seen, words = regions(torch.randn(4, 12)), tokens()
    assert not torch.equal(model.image(seen).vectors, model.image(seen).vectors)
    assert torch.equal(model.text(words).vectors, model.text(words).vectors)
    model.eval()
    assert torch.equal(model.image(seen).vectors, model.image(seen).vectors)


def test_features_without_a_whole_vector_are_refused():
    model = TwoTower(dim=8).model(SIZES)
    with pytest.raises(RecipeError, match="whole-item vectors"):
        model.image(regions(None))
