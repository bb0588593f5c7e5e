"""Gradients of the pairs a loss looks at are those of scoring everything at once."""

import pytest
import torch
from plain_formulas import ragged

from deixis.similarity.camp_fusion import GatedFusion
from deixis.similarity.similarity import Pairs
from deixis.similarity.sparse_backward import sparse_backward_scores
from deixis.types import Embedding


@pytest.fixture
def similarity() -> GatedFusion:
    return GatedFusion(6, "sum", attend=True, squash=False).double()


def gradients(similarity: GatedFusion, score, weights: torch.Tensor) -> list[torch.Tensor]:
    """Of a weighted sum of the scores, with respect to both sides and all that is learned."""
    torch.manual_seed(1)
    images, texts = ragged(4, 5, 6), ragged(5, 4, 6)
    v, w = images.vectors.clone().requires_grad_(), texts.vectors.clone().requires_grad_()
    scores = score(Embedding(v, images.mask), Embedding(w, texts.mask))
    return list(torch.autograd.grad((scores * weights).sum(), (v, w, *similarity.parameters())))


@pytest.mark.parametrize("few", [True, False])
def test_gradients_equal_those_of_keeping_everything(similarity, few):
    weights = torch.linspace(-1, 1, 20, dtype=torch.float64).view(4, 5)
    if few:
        weights = weights * (torch.arange(20).view(4, 5) % 7 == 0)
    lean = gradients(similarity, lambda a, b: sparse_backward_scores(similarity, a, b), weights)
    whole = gradients(similarity, lambda a, b: similarity.score(Pairs(a, b, grid=True)), weights)
    for ours, theirs in zip(lean, whole, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-12, rtol=0)


def test_only_pairs_with_a_gradient_are_scored_again(similarity, monkeypatch):
    again = []
    score_pairs = GatedFusion.score_pairs

    def counted(self, images, texts, image, text):
        again.append(len(image))
        return score_pairs(self, images, texts, image, text)

    monkeypatch.setattr(GatedFusion, "score_pairs", counted)
    scores = similarity(ragged(4, 5, 6), ragged(5, 4, 6))
    scores[[0, 1, 3], [2, 2, 4]].sum().backward()
    assert again == [3]


def test_scores_nobody_looks_at_leave_no_gradient(similarity):
    (similarity(ragged(2, 3, 6), ragged(3, 4, 6)).sum() * 0.0).backward()
    assert all(weight.grad is None for weight in similarity.parameters())


def test_what_is_frozen_stays_without_gradient(similarity):
    similarity.image_key.requires_grad_(False)
    similarity(ragged(2, 3, 6), ragged(3, 4, 6)).sum().backward()
    assert similarity.image_key.weight.grad is None
    assert similarity.text_key.weight.grad is not None
