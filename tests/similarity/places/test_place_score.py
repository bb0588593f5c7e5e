"""The score of phrases at places: what it prefers, and that numpy and torch agree."""

import numpy as np
import pytest
import torch

from deixis.features.places.cell_grid import CELLS
from deixis.features.places.pointed_region import region_of_boxes
from deixis.similarity.places.moved_regions import MOVES
from deixis.similarity.places.place_map import PlaceMap
from deixis.similarity.places.place_score import PlaceScore, place_maps
from deixis.types import Embedding

RANDOM = np.random.default_rng(0)
CELLS_OF = RANDOM.normal(size=(5, CELLS, 8)).astype(np.float32)
PHRASES = 3 * RANDOM.normal(size=(3, 8)).astype(np.float32)
REGIONS = np.stack([region_of_boxes([(a, a + 0.3, 0.2, 0.5)]) for a in (0.0, 0.3, 0.6)])


def test_a_thing_under_the_region_scores_above_the_same_thing_elsewhere():
    cells = np.zeros((2, CELLS, 8), np.float32)
    region = region_of_boxes([(0.0, 0.3, 0.0, 0.3)])
    cells[0, region > 0], cells[1, region == 0] = np.eye(8)[0], np.eye(8)[0]
    here, elsewhere = PlaceScore()(cells, 9 * np.eye(8, dtype=np.float32)[:1], region[None])
    assert here > elsewhere


def test_a_phrase_that_is_not_pointed_at_scores_nothing():
    regions = REGIONS.copy()
    regions[1] = 0
    scores = PlaceScore()(CELLS_OF, PHRASES, regions)
    assert (scores[:, 1] == 0).all()
    assert (scores[:, [0, 2]] == PlaceScore()(CELLS_OF, PHRASES[[0, 2]], REGIONS[[0, 2]])).all()


def test_the_floor_bounds_what_a_wrong_place_costs():
    overall = np.array([[1.5]], np.float32)
    bounded = PlaceScore(weight=2.0, floor=0.2).of(np.full((1, MOVES, 1), -100.0), overall)
    assert bounded == pytest.approx(np.log(0.2) + 2.0 * 0.25 * 1.5)


def test_a_place_remembered_a_cell_off_costs_less_when_errors_are_averaged_over():
    cells = np.zeros((2, CELLS, 8), np.float32)
    cells[0, 40], cells[1, 40] = np.eye(8)[0], np.eye(8)[1]  # the thing, and something else
    phrase = 9 * np.eye(8, dtype=np.float32)[:1]
    exact, beside = (np.eye(CELLS, dtype=np.float32)[cell][None] for cell in (40, 41))
    firm, kind = PlaceScore(spread=0.0), PlaceScore(spread=0.6)
    for score in (firm, kind):
        assert score(cells, phrase, exact)[0] > score(cells, phrase, beside)[0]
    assert kind(cells, phrase, beside)[0] > firm(cells, phrase, beside)[0] + 1
    assert kind(cells, phrase, beside)[0] > kind(cells, phrase, beside)[1]


@pytest.mark.parametrize("spread", [0.0, 0.6])
def test_search_and_training_score_alike(spread):
    texts = np.concatenate([PHRASES, REGIONS], axis=1)[:, None]
    images = Embedding(torch.from_numpy(CELLS_OF), torch.ones(5, CELLS, dtype=torch.bool))
    phrases = Embedding(torch.from_numpy(texts), torch.ones(3, 1, dtype=torch.bool))
    score = PlaceScore(spread=spread)
    trained = PlaceMap(score)(images, phrases)
    assert np.allclose(trained.numpy(), score(CELLS_OF, PHRASES, REGIONS), atol=1e-4)


def test_gradients_reach_the_phrases():
    texts = torch.from_numpy(np.concatenate([PHRASES, REGIONS], axis=1)[:, None]).requires_grad_()
    images = Embedding(torch.from_numpy(CELLS_OF), torch.ones(5, CELLS, dtype=torch.bool))
    PlaceMap(PlaceScore())(
        images, Embedding(texts, torch.ones(3, 1, dtype=torch.bool))
    ).sum().backward()
    assert texts.grad[..., :8].abs().min() > 0


def test_pairs_score_as_on_the_grid():
    texts = torch.from_numpy(np.concatenate([PHRASES, REGIONS], axis=1)[:, None])
    images = Embedding(torch.from_numpy(CELLS_OF[:3]), torch.ones(3, CELLS, dtype=torch.bool))
    phrases = Embedding(texts, torch.ones(3, 1, dtype=torch.bool))
    similarity = PlaceMap(PlaceScore())
    assert torch.allclose(similarity(images, phrases).diagonal(), similarity.pairs(images, phrases))


def test_maps_are_inner_products():
    maps = place_maps(CELLS_OF, PHRASES)
    assert maps.shape == (5, 3, CELLS)
    assert maps[2, 1, 7] == pytest.approx(CELLS_OF[2, 7] @ PHRASES[1], rel=1e-5)
