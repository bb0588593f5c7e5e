"""Sets are described by what they are, and drawn so that a picture tells."""

import math

import numpy as np
import pytest
import torch
from PIL import Image

from deixis.encoders.encoder import Encoder
from deixis.encoders.project import Project
from deixis.errors import RunError
from deixis.explain.drawing import heat, key, note, scatter, sheet
from deixis.explain.layout import tsne
from deixis.explain.sets import attention_of, circular_variance, health, nearest_texts
from deixis.features.boxes import grid_boxes
from deixis.heads.pool import Mean
from deixis.heads.unit import unit
from deixis.methods.dive import DivE
from deixis.methods.model import Sizes
from deixis.types import Embedding, Regions


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
    regions = Regions(torch.randn(2, 5, 6), torch.tensor([[True] * 5, [True] * 3 + [False] * 2]))
    maps = attention_of(tower, regions)
    assert maps.shape == (2, 2, 3, 5)
    torch.testing.assert_close(maps.sum(dim=3), torch.ones(2, 2, 3))
    assert maps[1, :, :, 3:].abs().max() == 0


def test_a_model_without_slots_says_so():
    with pytest.raises(RunError, match="not sets"):
        attention_of(
            Encoder(Project(6, 4), Mean()),
            Regions(torch.randn(1, 2, 6), torch.ones(1, 2, dtype=torch.bool)),
        )


def test_heat_lights_the_box_that_is_looked_at():
    picture = Image.new("RGB", (60, 60), (90, 90, 90))
    weight = np.zeros(9, dtype=np.float32)
    weight[0] = 1.0
    lit = np.asarray(heat(picture, grid_boxes(3), weight)).astype(float).sum(axis=2)
    assert lit[5:15, 5:15].mean() > 1.5 * lit[40:, 40:].mean()


def test_points_are_drawn_in_the_colour_of_their_slot():
    points = np.array([[0.0, 0.0], [1.0, 1.0]], dtype=np.float32)
    drawn = scatter(points, np.array([0, 1]), np.array([True, False]), "two", side=60)
    pixels = np.asarray(drawn).reshape(-1, 3).astype(int)
    blue, orange = pixels - [0, 114, 178], pixels - [230, 159, 0]
    assert np.abs(blue).sum(axis=1).min() < 200
    assert np.abs(orange).sum(axis=1).min() < 200
    both = sheet([[drawn, drawn], [key(["slot 1"], "image", "text")]], ["a", "b"])
    assert both.width > 2 * drawn.width
    assert both.height > drawn.height + 24


def test_attention_that_prefers_nothing_does_not_glow():
    picture = Image.new("RGB", (60, 60), (90, 90, 90))
    even, peaked = np.full(9, 1 / 9), np.array([0.6] + [0.05] * 8)
    flat, lit = (np.asarray(heat(picture, grid_boxes(3), w)).astype(float) for w in (even, peaked))
    assert flat.sum(axis=2).max() < 0.7 * lit.sum(axis=2).max()


def test_a_note_breaks_its_words_so_that_none_is_cut():
    words = "a dog runs over the wide green grass after a very small ball"
    wide, narrow = (np.asarray(note([words], "#000000", (side, 200))) < 128 for side in (900, 90))
    assert not narrow[:, -1].any()
    assert narrow.any(axis=(1, 2)).sum() > 3 * wide.any(axis=(1, 2)).sum()


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
    from deixis.evaluation.cost import Scoring, measure_costs
    from deixis.similarity.base import Cosine
    from deixis.similarity.sets import SmoothChamfer

    def made(items: int, parts: int) -> Embedding:
        return embedding(unit(torch.randn(items, parts, 8)))

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
