"""Losses and similarities on plain tensors give what they give in training."""

import pytest
import torch

from deixis.losses.infonce import InfoNCE
from deixis.losses.matching import Matching
from deixis.losses.miners import every, hardest
from deixis.losses.triplet import Triplet
from deixis.similarity.scan_attention import CrossAttention
from deixis.similarity.set_similarity import SmoothChamfer
from deixis.similarity.similarity import Cosine
from deixis.types import Batch, Embedding, Outputs, Regions, Tokens

SCORES = torch.tensor([[0.9, 0.2, 0.3], [0.7, 0.8, 0.1], [0.0, 0.4, 0.5]])
POSITIVES = torch.eye(3, dtype=torch.bool)


def outputs() -> Outputs:
    mask = torch.ones(3, 1, dtype=torch.bool)
    part = Embedding(torch.zeros(3, 1, 2), mask)
    batch = Batch(
        Regions(torch.zeros(3, 1, 2), mask), Tokens(torch.zeros(3, 1).long(), mask), POSITIVES
    )
    return Outputs(part, part, SCORES, batch)


@pytest.mark.parametrize(
    "loss", [Triplet(0.2), Triplet(0.2, every, "mean"), InfoNCE(), Matching(hardest)], ids=repr
)
def test_a_loss_of_scores_takes_plain_tensors(loss):
    assert loss(SCORES, POSITIVES) == loss(outputs(), 0)
    assert loss(SCORES, POSITIVES) > 0


def test_the_triplet_of_two_pairs_by_hand():
    # image 0: 0.2 + 0.2 − 0.9 < 0; image 1: 0.2 + 0.7 − 0.8 = 0.1; image 2: 0.2 + 0.4 − 0.5 = 0.1
    # text 0: 0.2 + 0.7 − 0.9 = 0; text 1: 0.2 + 0.4 − 0.8 < 0; text 2: 0.2 + 0.3 − 0.5 = 0
    torch.testing.assert_close(Triplet(0.2)(SCORES, POSITIVES), torch.tensor(0.2))


@pytest.mark.parametrize(
    "similarity", [Cosine(), SmoothChamfer(16.0), CrossAttention("t2i", 9.0, "mean", 6.0)]
)
def test_a_similarity_takes_plain_tensors(similarity):
    torch.manual_seed(0)
    parts = 1 if isinstance(similarity, Cosine) else 4
    images, texts = torch.randn(3, parts, 8), torch.randn(5, parts, 8)
    masks = (torch.ones(3, parts, dtype=torch.bool), torch.ones(5, parts, dtype=torch.bool))
    expected = similarity(Embedding(images, masks[0]), Embedding(texts, masks[1]))
    assert torch.equal(similarity(images, texts), expected)


def test_one_vector_per_item_needs_no_part_axis():
    images, texts = torch.eye(2), torch.tensor([[0.0, 1.0]])
    assert Cosine()(images, texts).tolist() == [[0.0], [1.0]]
