"""Set embeddings: spread, idle slots, nearest texts, attention and its cost."""

import math

import numpy as np
import pytest
import torch

from deixis.encoders.encoder import Encoder
from deixis.encoders.projection import Projection
from deixis.errors import RunError
from deixis.explanation.set_health import circular_variance, health, nearest_texts
from deixis.explanation.slot_attention import attention_maps
from deixis.explanation.tsne import tsne
from deixis.heads.l2_normalise import l2_normalise
from deixis.heads.pooling import MeanPool
from deixis.methods.dive import DivE
from deixis.types import Embedding, Regions, Sizes


def embedding(vectors: torch.Tensor) -> Embedding:
    return Embedding(vectors, torch.ones(vectors.shape[:2], dtype=torch.bool))


def test_a_collapsed_set_has_no_variance_and_an_opposite_pair_all_of_it():
    same, opposite = torch.tensor([1.0, 0.0]), torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    found = circular_variance(torch.stack([same.expand(2, 2), opposite]))
    torch.testing.assert_close(found, torch.tensor([0.0, 1.0]))


def test_wins_name_the_slots_of_the_best_pair():
    axes = torch.eye(4)
    images = embedding(torch.stack([axes[:2], axes[:2]]))
    texts = embedding(
        torch.stack([torch.stack([axes[2], axes[1]]), torch.stack([axes[3], axes[1]])])
    )
    found = health(images, texts, torch.tensor([[0, 0], [1, 1]]))
    assert found.image_wins == (0.0, 1.0)
    assert found.text_wins == (0.0, 1.0)
    assert found.logs()[0] == pytest.approx(math.log(1 - math.sqrt(0.5)), abs=1e-6)


def test_each_element_finds_the_text_that_holds_its_nearest():
    axes = torch.eye(4)
    texts = embedding(torch.stack([axes[:2], axes[2:]]))
    assert nearest_texts(axes[[3, 0]], texts).tolist() == [1, 0]


def test_attention_is_a_share_of_the_places_at_every_round():
    method = DivE(dim=8, word_dim=6, parts=3, iterations=2, head_dim=4)
    tower = method.model(Sizes(region=6, vocabulary=9)).eval().image
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    regions = Regions(torch.randn(2, 5, 6), mask, torch.rand(2, 5, 5))
    maps = attention_maps(tower, regions).shares
    assert maps.shape == (2, 2, 3, 5)
    torch.testing.assert_close(maps.sum(dim=3), torch.ones(2, 2, 3))
    assert maps[1, :, :, 3:].abs().max() == 0


def test_a_model_without_slots_says_so():
    with pytest.raises(RunError, match="not sets"):
        attention_maps(
            Encoder(Projection(6, 4), MeanPool()),
            Regions(torch.randn(1, 2, 6), torch.ones(1, 2, dtype=torch.bool)),
        )


def test_clusters_stay_together_on_the_plane_and_the_plane_is_repeatable():
    random = np.random.default_rng(0)
    centres = np.repeat(10 * random.normal(size=(2, 6)), 20, axis=0)
    points = (centres + random.normal(size=(40, 6))).astype(np.float32)
    plane = tsne(points)
    assert np.array_equal(plane, tsne(points))
    first, second = plane[:20], plane[20:]
    gap = np.linalg.norm(first.mean(0) - second.mean(0))
    assert gap > 2 * max(first.std(), second.std()) / 2


def test_a_wider_set_costs_its_share_of_operations():
    from deixis.evaluation.probes.scoring_cost import Scoring, measure_costs
    from deixis.similarity.set_similarity import SmoothChamfer
    from deixis.similarity.similarity import Cosine

    def made(items: int, parts: int) -> Embedding:
        return embedding(l2_normalise(torch.randn(items, parts, 8)))

    costs = measure_costs(
        {
            "one": Scoring(Cosine(), made(20, 1), made(30, 1)),
            "four": Scoring(SmoothChamfer(), made(20, 4), made(30, 4)),
        },
        repeats=1,
    )
    assert costs["one"].flops == 2 * 20 * 30 * 8
    assert costs["four"].flops == 16 * costs["one"].flops
    assert costs["one"].pairs == 600
    assert costs["four"].seconds > 0
