import numpy as np
import pytest

from deixis.search.query.calibration import Calibration, Spread


@pytest.fixture
def background():
    return np.random.default_rng(0).normal(0.2, 0.05, (32, 2000)).astype(np.float32)


def test_scores_are_judged_in_widths_of_their_own_query(background):
    calibration = Calibration(background, background.max(axis=1))
    other = background[0] * 3 - 1  # a query whose scores lie elsewhere and wider apart
    for sample, scale in ((background[0], Spread(0.2, 0.05)), (other, Spread(-0.4, 0.15))):
        scores = [scale.middle + scale.width * widths for widths in (6, 2)]
        assert calibration.bands(sample, scores) == ["confident", "rest"]


def test_what_senseless_queries_reach_is_never_confident(background):
    calibration = Calibration(background, background.max(axis=1))
    bands = [calibration.bands(row, [float(row.max())])[0] for row in background]
    assert bands.count("confident") == 0
    assert bands.count("maybe") in (7, 8)  # a quarter of thirty-two, the best of which is the bar


def test_other_senseless_queries_than_those_it_learnt_from_are_rarely_confident(background):
    """Thresholds come from 32 queries; what they promise is counted on a thousand others."""
    calibration = Calibration(background, background.max(axis=1))
    others = np.random.default_rng(1).normal(0.4, 0.02, (1000, 2000)).astype(np.float32)
    bands = [calibration.bands(row, [float(row.max())])[0] for row in others]
    assert bands.count("confident") < 60
    assert bands.count("rest") > 600


def test_a_few_perfect_matches_do_not_change_the_spread(background):
    matched = background[0].copy()
    matched[:100] = 0.9
    plain, with_matches = Spread.over(background[0]), Spread.over(matched)
    assert with_matches.width == pytest.approx(plain.width, rel=0.1)


def test_cosines_are_compared_as_they_are():
    random = np.random.default_rng(4)
    background = random.normal(0, 0.1, (32, 400)).astype(np.float32)
    calibration = Calibration(background, background.max(axis=1))
    narrow = (background[0] * 0.1 + 0.2).astype(np.float32)  # every picture alike, all of them near
    assert calibration.bands(narrow, [0.6], comparable=True) == ["confident"]
    assert calibration.bands(narrow, [0.1], comparable=True) == ["rest"]
