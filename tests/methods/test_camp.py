"""CAMP's towers: of one length where asked, over word ids and over frozen states."""

import pytest
import torch

from deixis.methods.camp import CAMP
from deixis.methods.scan import SCAN
from deixis.types import Regions, Sizes, Tokens

MASK = torch.tensor([[True, True, True], [True, True, False]])
REGIONS = Regions(torch.arange(36.0).view(2, 3, 6).cos(), MASK)
IDS = torch.tensor([[3, 4, 5], [6, 7, 0]])


@pytest.mark.parametrize("attend", [True, False])
def test_even_parts_all_have_the_length_of_variance_one(attend):
    model = CAMP(dim=8, word_dim=4, attend=attend, rescale=True).model(
        Sizes(region=6, vocabulary=9)
    )
    for side in (model.image(REGIONS), model.text(Tokens(IDS, MASK))):
        lengths = side.vectors.norm(dim=2)[MASK]
        torch.testing.assert_close(lengths, torch.full((5,), 8**0.5))


def test_parts_keep_their_own_lengths_unless_asked():
    model = CAMP(dim=8, word_dim=4).model(Sizes(region=6, vocabulary=9))
    assert model.image(REGIONS).vectors.norm(dim=2)[MASK].std() > 0.01


@pytest.mark.parametrize("method", [CAMP(dim=8), SCAN(dim=8)], ids=["camp", "scan"])
def test_frozen_states_stand_in_for_words(method):
    states = torch.arange(30.0).view(2, 3, 5).sin()
    model = method.model(Sizes(region=6, token=5, vocabulary=9))
    encoded = model.text(Tokens(IDS, MASK, values=states)).vectors
    changed = model.text(Tokens(IDS, MASK, values=states + 1.0)).vectors
    assert encoded.shape == (2, 3, 8)
    assert not torch.allclose(encoded, changed)
