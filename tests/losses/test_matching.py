"""The matching loss equals the published one and its value reveals a collapsed model."""

import math

import pytest
import torch
from test_triplet import outputs

from deixis.losses.matching import Matching
from deixis.losses.miners import AnyThenHardest, every, hardest
from deixis.losses.triplet import Triplet


def test_equals_the_published_loss(golden):
    arrays = golden("camp/camp_repo_losses")
    clipped = torch.from_numpy(arrays["scores"]).double().clamp(1e-6, 1 - 1e-6)
    out = outputs(clipped.logit(), torch.eye(7, dtype=torch.bool))
    loss = Matching(hardest)(out, 0)
    assert loss.item() == pytest.approx(float(arrays["loss_BCE_hardest"]), rel=1e-6)


def test_every_negative_weighs_as_in_the_published_variant(golden):
    arrays = golden("camp/camp_repo_losses")
    clipped = torch.from_numpy(arrays["scores"]).double().clamp(1e-6, 1 - 1e-6)
    loss = Matching(every)(outputs(clipped.logit(), torch.eye(7, dtype=torch.bool)), 0)
    right = -clipped.diagonal().log().mean().item()
    wrong = float(arrays["loss_BCE_all"]) - right  # there divided by 7 · 7, here by 7 · 6
    assert loss.item() == pytest.approx(2 * 7 * (right + wrong * 7 / 6), rel=1e-6)


@pytest.mark.parametrize(("miner", "name"), [(hardest, "hardest"), (every, "all")])
def test_the_ranking_variant_equals_the_published_loss(golden, miner, name):
    arrays = golden("camp/camp_repo_losses")
    scores = torch.from_numpy(arrays["scores"]).double()
    loss = Triplet(0.2, miner)(outputs(scores, torch.eye(7, dtype=torch.bool)), 0)
    assert loss.item() == pytest.approx(float(arrays[f"loss_rank_{name}"]), rel=1e-6)


@pytest.mark.parametrize("miner", [hardest, every])
def test_a_model_that_predicts_one_half_for_everything_pays_four_ln_two_per_pair(miner):
    loss = Matching(miner)(outputs(torch.zeros(64, 64), torch.eye(64, dtype=torch.bool)), 0)
    assert loss.item() == pytest.approx(4 * 64 * math.log(2), rel=1e-6)


def test_certain_mistakes_keep_a_gradient():
    scores = torch.tensor([[-80.0, 80.0], [90.0, -90.0]], requires_grad=True)
    Matching(hardest)(outputs(scores, torch.eye(2, dtype=torch.bool)), 0).backward()
    assert torch.equal(scores.grad, torch.tensor([[-2.0, 2.0], [2.0, -2.0]]))


def test_two_texts_of_one_image_are_not_negatives_of_each_other():
    scores = torch.tensor([[1.0, 50.0, 0.0], [0.0, 0.0, 1.0]], requires_grad=True)
    positives = torch.tensor([[True, True, False], [False, False, True]])
    Matching(hardest)(outputs(scores, positives), 0).backward()
    assert scores.grad[0, 1] <= 0


def test_at_first_one_negative_counts_whatever_its_score():
    miner = AnyThenHardest(warmup=3)
    positives = torch.tensor([[True, True, False, False], [False, False, True, True]])
    scores = torch.tensor([[0.0, 0.0, 1.0, 9.0], [1.0, 9.0, 0.0, 0.0]])
    early = torch.tensor([[False, False, True, False], [True, False, False, False]])
    late = torch.tensor([[False, False, False, True], [False, True, False, False]])
    assert torch.equal(miner(scores, positives, 2), early)
    assert torch.equal(miner(-scores, positives, 2), early)
    assert torch.equal(miner(scores, positives, 3), late)


def test_noise_grows_less_alike_under_any_negative_than_under_the_hardest():
    """The hardest of noise beat the positives, so lowering them makes all scores alike."""
    noise = torch.randn(64, 64, generator=torch.Generator().manual_seed(0))
    moved = {}
    for miner in (AnyThenHardest(1), AnyThenHardest(0)):
        scores = noise.clone().requires_grad_()
        Matching(miner)(outputs(scores, torch.eye(64, dtype=torch.bool)), 0).backward()
        # How the spread of all scores changes along the step a gradient asks for.
        moved[miner.warmup] = -(scores.grad * (noise - noise.mean())).sum().item()
    assert moved[0] < 3 * moved[1] < 0
