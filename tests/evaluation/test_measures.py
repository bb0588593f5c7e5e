import itertools
from pathlib import Path

import numpy as np
import pytest

from deixis.evaluation.chance import expected
from deixis.evaluation.measures import (
    average_precision,
    average_precision_at_r,
    both_ways,
    precision_measures,
    r_precision,
    rank_measures,
)
from deixis.evaluation.positive_ranks import places, ranks
from deixis.evaluation.probes.cross_rank import cross_ranks, histogram
from deixis.evaluation.qrels import Qrels

GOLDEN = Path(__file__).parents[1] / "golden"
KEYS = ("hit@1", "hit@5", "hit@10", "medr", "meanr")


def five_texts_per_image(images: int) -> np.ndarray:
    return np.stack([np.arange(5 * images) // 5, np.arange(5 * images)], axis=1)


@pytest.mark.parametrize(
    ("file", "i2t", "t2i"),
    [
        ("dive/ranks.npz", "full_i2t", "full_t2i"),
        ("camp/rank_metrics.npz", "i2t_metrics", "t2i_metrics"),
        ("aoq/rank_7.npz", "i2t", "t2i"),
    ],
)
def test_rank_measures_equal_the_published_code(file, i2t, t2i):
    golden = np.load(GOLDEN / file)
    pairs = five_texts_per_image(len(golden["sims"]))
    ours = rank_measures(ranks(golden["sims"], Qrels.of_pairs(pairs)))
    np.testing.assert_allclose([ours[key] for key in KEYS], golden[i2t], atol=1e-9)
    ours = rank_measures(ranks(golden["sims"].T, Qrels.of_pairs(pairs[:, ::-1])))
    np.testing.assert_allclose([ours[key] for key in KEYS], golden[t2i], atol=1e-9)


def test_rsum_is_the_six_hit_rates():
    golden = np.load(GOLDEN / "dive/ranks.npz")
    pairs = five_texts_per_image(50)
    i2t = rank_measures(ranks(golden["sims"], Qrels.of_pairs(pairs)))
    t2i = rank_measures(ranks(golden["sims"].T, Qrels.of_pairs(pairs[:, ::-1])))
    assert both_ways(i2t, t2i)["rsum"] == pytest.approx(float(golden["full_rsum"]), abs=1e-9)


def test_added_positives_count_as_in_the_published_cxc_loop():
    golden = np.load(GOLDEN / "dive/ranks.npz")
    added = np.stack([np.arange(50), golden["cxc_extra_positive"]], axis=1)
    pairs = np.concatenate([five_texts_per_image(50), added])
    ours = rank_measures(ranks(golden["sims"], Qrels.of_pairs(pairs)))
    np.testing.assert_allclose([ours[key] for key in KEYS[:3]], golden["cxc_i2t"], atol=1e-9)


def test_precision_measures_by_hand():
    scores = np.array([[9.0, 8.0, 7.0, 6.0, 5.0]])
    placed = places(scores, Qrels.of_pairs(np.array([[0, 0], [0, 2], [0, 4]])))
    assert placed.places.tolist() == [1, 3, 5]
    assert r_precision(placed)[0] == pytest.approx(2 / 3)
    assert average_precision_at_r(placed)[0] == pytest.approx((1 + 2 / 3) / 3)
    assert average_precision(placed)[0] == pytest.approx((1 + 2 / 3 + 3 / 5) / 3)


def test_a_missing_positive_lowers_every_precision():
    scores, ids = np.array([[2.0, 1.0]]), np.array([1, 2])
    placed = places(scores, Qrels.of_ids({1: [1, 3]}, np.array([1]), ids))
    assert r_precision(placed).tolist() == [0.5]
    assert average_precision_at_r(placed).tolist() == [0.5]
    assert average_precision(placed).tolist() == [0.5]


def test_chance_is_the_mean_over_every_order():
    sizes, gallery = np.array([1, 2, 2, 3]), 5
    positives = np.arange(gallery) < sizes[:, None]
    qrels = Qrels.of_mask(positives)
    orders = [np.tile(order, (4, 1)) for order in itertools.permutations(np.arange(5.0))]
    placed = [places(scores, qrels) for scores in orders]
    closed_form = expected(sizes, gallery)
    measured = [rank_measures(p.best) | precision_measures(p) for p in placed]
    for key in ("hit@1", "hit@5", "hit@10", "meanr", "map@r", "rprecision"):
        assert closed_form[key] == pytest.approx(
            np.mean([one[key] for one in measured]), abs=1e-9
        ), key
    every = np.concatenate([p.best for p in placed])
    assert closed_form["medr"] == np.quantile(every, 0.5, method="inverted_cdf")


def test_cross_ranks_equal_the_formula():
    golden = np.load(GOLDEN / "aoq/rank_7.npz")
    cross = cross_ranks(golden["sims"], five_texts_per_image(7))
    np.testing.assert_array_equal(cross, golden["cross_rank_formula"])


def test_cross_ranks_follow_the_pairs_given():
    scores = np.array([[3.0, 1.0, 2.0], [0.0, 2.0, 4.0]])
    pairs = np.array([[1, 1], [0, 0], [0, 2]])  # two texts for image 0, one for image 1
    # text 1 stands behind text 2 for its image; text 2 behind image 1 and nothing else
    assert cross_ranks(scores, pairs).tolist() == [2, 1, 3]


def test_histogram_puts_edges_into_the_lower_bin():
    counts = histogram(np.array([1, 1, 2, 5, 6, 200, 201, 24_996]))
    assert counts == {
        "1": 2, "2–5": 2, "6–10": 1, "11–20": 0, "21–50": 0, "51–100": 0, "101–200": 1, ">200": 2
    }  # fmt: skip
