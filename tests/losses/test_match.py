"""The matching loss equals the published one and tells a collapsed model by its value."""

import math

import pytest
import torch
from test_triplet import outputs

from deixis.losses.match import Match
from deixis.losses.triplet import Triplet
from deixis.mining.miners import every, hardest


def test_equals_the_published_loss(golden):
    arrays = golden("camp/camp_repo_losses")
    clipped = torch.from_numpy(arrays["scores"]).double().clamp(1e-6, 1 - 1e-6)
    out = outputs(clipped.logit(), torch.eye(7, dtype=torch.bool))
    loss = Match(hardest)(out, 0)
    assert loss.item() == pytest.approx(float(arrays["loss_BCE_hardest"]), rel=1e-6)


@pytest.mark.parametrize(("miner", "name"), [(hardest, "hardest"), (every, "all")])
def test_the_ranking_variant_equals_the_published_loss(golden, miner, name):
    arrays = golden("camp/camp_repo_losses")
    scores = torch.from_numpy(arrays["scores"]).double()
    loss = Triplet(0.2, miner)(outputs(scores, torch.eye(7, dtype=torch.bool)), 0)
    assert loss.item() == pytest.approx(float(arrays[f"loss_rank_{name}"]), rel=1e-6)


def test_a_model_that_says_a_half_to_everything_pays_four_ln_two_a_pair():
    loss = Match(hardest)(outputs(torch.zeros(64, 64), torch.eye(64, dtype=torch.bool)), 0)
    assert loss.item() == pytest.approx(4 * 64 * math.log(2), rel=1e-6)


def test_certain_mistakes_keep_a_gradient():
    scores = torch.tensor([[-80.0, 80.0], [90.0, -90.0]], requires_grad=True)
    Match(hardest)(outputs(scores, torch.eye(2, dtype=torch.bool)), 0).backward()
    assert torch.equal(scores.grad, torch.tensor([[-2.0, 2.0], [2.0, -2.0]]))


def test_two_texts_of_one_image_are_not_negatives_of_each_other():
    scores = torch.tensor([[1.0, 50.0, 0.0], [0.0, 0.0, 1.0]], requires_grad=True)
    positives = torch.tensor([[True, True, False], [False, False, True]])
    Match(hardest)(outputs(scores, positives), 0).backward()
    assert scores.grad[0, 1] <= 0
