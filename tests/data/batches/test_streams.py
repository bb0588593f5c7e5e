"""Augmenters of one step draw from streams of their own."""

import torch

from deixis.data.batches.augmented import AugmentedBatches
from deixis.data.batches.masked import MaskedBatches
from deixis.data.batches.pairs import PairBatches
from deixis.data.batches.streams import stream
from deixis.features.words.masking import Masking
from made import made_dataset


def test_a_dropped_region_says_nothing_about_a_masked_one():
    pairs = PairBatches(made_dataset(), 24, seed=3)
    whole = pairs.at(0).images
    dropped = (
        AugmentedBatches(pairs, 0.5, 0.0, masking=Masking.of_vocabulary(30), seed=3).at(0).images
    )
    masked = MaskedBatches(pairs, 0.5, seed=3).at(0)
    assert masked.masked is not None
    left = (whole.mask & ~masked.masked.regions).sum(dim=1)  # kept by the mask, per image
    assert not torch.equal(left.clamp(min=1), dropped.mask.sum(dim=1).clamp(min=1))


def test_a_stream_is_the_same_again_and_differs_by_seed_step_and_purpose():
    def drawn(*key):
        return torch.rand(4, generator=stream(*key)).tolist()

    assert drawn(1, 2, "crop") == drawn(1, 2, "crop")
    others = [drawn(1, 2, "crop"), drawn(2, 1, "crop"), drawn(1, 3, "crop"), drawn(1, 2, "mask")]
    assert len({tuple(numbers) for numbers in others}) == 4
