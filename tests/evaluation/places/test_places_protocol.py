"""The protocol on made pictures whose things lie where the boxes say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deixis.data.corpus import Corpus
from deixis.data.groundings.groundings import Groundings
from deixis.data.groundings.placed_phrase import GroundedPhrase
from deixis.errors import EvaluationError
from deixis.evaluation.places.drawn_regions import drawn_regions, mirror_regions
from deixis.evaluation.places.places_result import gain_over, line_of
from deixis.evaluation.places.pointed_retrieval import PointedRetrieval
from deixis.evaluation.places.pointed_texts import PointedTexts
from deixis.evaluation.places.pointing_game import (
    mean_gains,
    mirrored_twins,
    own_maps,
    pointing_game,
    score_gains,
)
from deixis.features.places.cell_grid import CELLS, SIDE
from deixis.features.places.pointed_region import region_of_boxes
from deixis.similarity.places.place_score import PlaceScore

IMAGES, DIM, TEXT = 30, 2, "a dog and a man"
SPANS = ((0, 5), (10, 15))


@pytest.fixture(scope="module")
def made():
    """Every picture shows a dog and a man somewhere; the text is the same for all."""
    random = np.random.default_rng(0)
    cells = np.zeros((IMAGES, CELLS, DIM), np.float32)
    found = {}
    for image in range(IMAGES):
        phrases = []
        for thing, (start, end) in enumerate(SPANS):
            x, y = random.uniform(0.0, 0.8, 2).tolist()
            box = (x, x + 0.2, y, y + 0.2)
            region = region_of_boxes([box])
            cells[image, :, thing] = region / region.max()
            phrases.append(GroundedPhrase(start, end, str(thing), ("animals",), (box,)))
        found[f"{image}.jpg", TEXT] = tuple(phrases)
    numbers = np.arange(IMAGES)
    corpus = Corpus(
        name="made",
        root=Path(),
        files=tuple(f"{image}.jpg" for image in range(IMAGES)),
        texts=(TEXT,) * IMAGES,
        owners=numbers,
        pairs=np.stack([numbers, numbers], axis=1),
        splits=("val",) * IMAGES,
    )
    asked = PointedTexts.of(corpus, Groundings(found))
    phrases = np.tile(9 * np.eye(DIM, dtype=np.float32), (IMAGES, 1))
    return PointedRetrieval(asked, np.zeros((IMAGES, IMAGES)), cells, phrases, PlaceScore())


@pytest.fixture(scope="module")
def ranks(made):
    return made.ranks(drawn_regions(made.asked))


def test_without_places_equal_scores_count_against_the_system(made):
    assert (made.text_ranks() == IMAGES).all()


def test_exact_places_find_the_picture(ranks):
    assert (ranks["σ = 0"] == 1).mean() > 0.9


def test_the_worse_a_place_is_remembered_the_later_the_picture_comes(ranks):
    means = [ranks[f"σ = {sigma}"].mean() for sigma in ("0", "0.05", "0.1", "0.2")]
    assert means == sorted(means)


@pytest.mark.parametrize("wrong", ["mirrored places", "another query's places", "swapped places"])
def test_wrong_places_are_worse_than_right_ones(ranks, wrong):
    assert ranks[wrong].mean() > 2 * ranks["σ = 0.05"].mean()


def test_one_phrase_says_less_than_two(made, ranks):
    first = made.ranks(drawn_regions(made.asked), first=True)
    assert first["σ = 0.05"].mean() > ranks["σ = 0.05"].mean()


def test_the_same_seed_draws_the_same_places(made):
    one, two = drawn_regions(made.asked, 3), drawn_regions(made.asked, 3)
    assert all((one[name] == two[name]).all() for name in one)
    assert (drawn_regions(made.asked, 4)["scribble"] != one["scribble"]).any()


def test_maps_that_lie_on_the_things_win_the_pointing_game(made):
    maps = own_maps(made.asked, made.cells, made.phrases)
    game = pointing_game(made.asked, maps)
    assert game["all"] == game["animals"] > 95
    assert game["random"] == pytest.approx(4, abs=1.5)


def test_right_maps_know_a_picture_from_its_mirror_image(made):
    maps = own_maps(made.asked, made.cells, made.phrases)
    regions = drawn_regions(made.asked)["σ = 0"]
    for gains in (mean_gains(maps, regions), score_gains(maps, regions, made.score)):
        assert mirrored_twins(made.asked, gains) == {"phrase": 100, "text": 100}
    for wrong in (mean_gains(maps, mirror_regions(regions)), -gains):
        assert mirrored_twins(made.asked, wrong)["phrase"] < 5


def test_twins_are_compared_by_the_score_that_ranks(made):
    maps = np.random.default_rng(1).normal(size=(len(made.phrases), CELLS)).astype(np.float32)
    regions = drawn_regions(made.asked)["σ = 0.05"]
    gains = score_gains(maps, regions, made.score)
    turned = maps.reshape(-1, SIDE, SIDE)[:, :, ::-1].reshape(maps.shape)
    for row in (0, len(maps) - 1):
        pictures = np.stack([maps[row], turned[row]])[:, :, None]  # cells along the phrase
        own, other = made.score(pictures, np.ones((1, 1), np.float32), regions[row : row + 1])[:, 0]
        assert gains[row] == pytest.approx(own - other, abs=1e-4)
    # Without moves and with one phrase, score and mean say the same.
    still = replace(made.score, spread=0.0)
    same = (score_gains(maps, regions, still) > 0) == (mean_gains(maps, regions) > 0)
    assert same.all()


def test_a_gain_is_paired_and_its_interval_holds_it():
    text, better = np.array([5, 1, 9, 2]), np.array([1, 1, 1, 2])
    gain, low, high = gain_over(better, text, np.array([0, 0, 1, 1]))
    assert gain == 50
    assert low <= gain <= high
    assert gain_over(text, text, np.arange(4)) == (0, 0, 0)


def test_a_line_may_count_some_queries_alone():
    ranks = np.array([1, 1, 3, 20])
    line = line_of("some", ranks, ranks, np.arange(4), among=np.array([False, True, True, True]))
    assert line.queries == 3
    assert line.every == pytest.approx((100 / 3, 200 / 3, 200 / 3))


def test_a_split_without_boxes_is_refused(made):
    corpus = Corpus("bare", Path(), ("a.jpg",), ("a dog",), np.zeros(1, int), np.zeros((1, 2), int),
                    ("val",))  # fmt: skip
    with pytest.raises(EvaluationError, match="phrase with a box"):
        PointedTexts.of(corpus, Groundings({}))
