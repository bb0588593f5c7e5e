"""Hidden regions and words are really hidden, remembered, and the same at every visit."""

import torch

from deixis.data.batches.masked import MaskedBatches
from deixis.data.batches.pairs import PairBatches
from deixis.features.words.vocabulary import MASK, SPECIAL
from made import made_dataset


def test_a_share_of_places_is_hidden_and_kept_beside():
    plain = PairBatches(made_dataset(images=60), 40, seed=0)
    batch, whole = MaskedBatches(plain, 0.3, seed=0).at(1), plain.at(1)
    hidden = batch.masked
    assert torch.equal(hidden.values, whole.images.values)
    assert torch.equal(hidden.ids, whole.texts.ids)
    assert (batch.images.values[hidden.regions] == 0).all()
    assert (batch.texts.ids[hidden.words] == MASK).all()
    assert torch.equal(batch.images.values[~hidden.regions], whole.images.values[~hidden.regions])
    assert torch.equal(batch.texts.ids[~hidden.words], whole.texts.ids[~hidden.words])
    assert not (hidden.regions & ~whole.images.mask).any()
    assert (hidden.ids[hidden.words] >= len(SPECIAL)).all()
    share = hidden.words.sum() / (whole.texts.mask & (whole.texts.ids >= len(SPECIAL))).sum()
    assert 0.2 < share < 0.4


def test_a_step_hides_the_same_every_time_and_steps_differ():
    batches = MaskedBatches(PairBatches(made_dataset(images=60), 40, seed=0), 0.3, seed=0)
    assert torch.equal(batches.at(0).masked.words, batches.at(0).masked.words)
    regions = [batches.at(step).images.values.eq(0).all(dim=2).sum().item() for step in range(4)]
    assert len(set(regions)) > 1
