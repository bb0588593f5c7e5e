import math

import pytest
import torch

from deixis.losses.infonce import InfoNCE
from deixis.types import Batch, Embedding, Outputs, Regions, Tokens


def outputs(scores: torch.Tensor, positives: torch.Tensor) -> Outputs:
    images, texts = scores.shape
    everywhere = torch.ones(images, 1, dtype=torch.bool), torch.ones(texts, 1, dtype=torch.bool)
    batch = Batch(
        Regions(torch.zeros(images, 1, 1), everywhere[0]),
        Tokens(torch.zeros(texts, 1, dtype=torch.long), everywhere[1]),
        positives,
    )
    return Outputs(
        Embedding(torch.zeros(images, 1, 1), everywhere[0]),
        Embedding(torch.zeros(texts, 1, 1), everywhere[1]),
        scores,
        batch,
    )


def test_one_pair_each_is_the_mean_of_two_cross_entropies():
    scores = torch.tensor([[0.9, 0.1], [0.3, 0.5]])
    loss = InfoNCE(temperature=1.0)(outputs(scores, torch.eye(2, dtype=torch.bool)), 0)

    def picked(right: float, wrong: float) -> float:
        return -math.log(math.exp(right) / (math.exp(right) + math.exp(wrong)))

    by_image = (picked(0.9, 0.1) + picked(0.5, 0.3)) / 2
    by_text = (picked(0.9, 0.3) + picked(0.5, 0.1)) / 2
    assert loss.item() == pytest.approx((by_image + by_text) / 2, abs=1e-6)


def test_two_texts_of_one_image_do_not_push_each_other_away():
    scores = torch.tensor([[0.2, 0.7, 0.1], [0.0, 0.1, 0.6]], requires_grad=True)
    positives = torch.tensor([[True, True, False], [False, False, True]])
    InfoNCE()(outputs(scores, positives), 0).backward()
    assert scores.grad is not None
    assert (scores.grad[positives] < 0).all()
    assert (scores.grad[~positives] > 0).all()


def test_the_scale_is_learned_and_capped():
    loss = InfoNCE()
    scores = torch.tensor([[0.9, 0.1], [0.3, 0.5]])
    pairs = torch.eye(2, dtype=torch.bool)
    loss(outputs(scores, pairs), 0).backward()
    assert loss.log_scale.grad is not None
    assert loss.log_scale.grad.item() < 0
    with torch.no_grad():
        loss.log_scale.fill_(math.log(100.0))
        at_cap = loss(outputs(scores / 100, pairs), 0)
        loss.log_scale.fill_(math.log(5000.0))
        assert loss(outputs(scores / 100, pairs), 0).item() == pytest.approx(at_cap.item())
