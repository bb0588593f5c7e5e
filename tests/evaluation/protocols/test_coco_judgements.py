import json
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from deixis.data.corpus import Corpus
from deixis.errors import EvaluationError
from deixis.evaluation.protocols import coco_judgements as coco
from deixis.evaluation.protocols.coco_judgements import CocoTest
from deixis.similarity.blocked.topk import nearest
from deixis.similarity.blocked.topk_buffer import Nearest

pytest.importorskip("eccv_caption")
GOLDEN = Path(__file__).parents[2] / "golden/aoq"
PROTOCOLS = {"coco_1k": "COCO 1K", "coco_5k": "COCO 5K", "cxc": "CxC", "eccv": "ECCV Caption"}
MEASURES = {"map_at_r": "map@r", "rprecision": "rprecision"}
MEASURES |= {f"r{k}": f"hit@{k}" for k in (1, 5, 10)}


@cache
def truth() -> CocoTest:
    return CocoTest.load()


def scores_of(texts: str) -> np.ndarray:
    kept = np.load(GOLDEN / "eccv_embeddings.npz")
    return kept["img"].astype(np.float32) @ kept[texts].astype(np.float32).T  # exact integers


@pytest.mark.parametrize("texts", ["A", pytest.param("B", marks=pytest.mark.slow)])
def test_every_measure_equals_the_published_package(texts):
    expected = json.loads((GOLDEN / "eccv_expected.json").read_text())[f"{texts}_full"]
    assert_equal(truth().judge(scores_of(f"cap{texts}"), ties="by index"), expected)


def assert_equal(results, expected):
    for name, ways in expected.items():
        protocol = next(key for key in PROTOCOLS if name.startswith(key))
        measure = MEASURES[name.removeprefix(f"{protocol}_")]
        for way, value in ways.items():
            ours = results[PROTOCOLS[protocol]].measures[f"{way}_{measure}"]
            assert ours / 100 == pytest.approx(value, abs=1e-9), name


def test_the_installed_package_agrees_on_rankings_it_is_given():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it asks for a progress bar that need not be there
        from eccv_caption import Metrics
    scores = scores_of("capA")
    rankings = {
        "i2t": ids_of(nearest(scores, 50), truth().image_ids, truth().text_ids),
        "t2i": ids_of(nearest(scores.T, 50), truth().text_ids, truth().image_ids),
    }
    theirs = Metrics().eccv_metrics(rankings, "all") | {
        "cxc_r5": Metrics().cxc_recalls(rankings, "all", K=5),
        "coco_5k_r10": Metrics().coco_5k_recalls(rankings, "all", K=10),
    }
    assert_equal(truth().judge(scores, ties="by index"), theirs)


def ids_of(found: Nearest, queries: np.ndarray, items: np.ndarray) -> dict[int, list[int]]:
    return dict(zip(queries.tolist(), items[found.items].tolist(), strict=True))


def test_a_corpus_in_another_order_is_judged_the_same(tmp_path):
    scores, known = scores_of("capA"), truth()
    rng = np.random.default_rng(0)
    images, texts = rng.permutation(5000), rng.permutation(25000)
    corpus = Corpus(
        name="shuffled",
        root=tmp_path,
        files=("",) * 5000,
        texts=("",) * 25000,
        owners=np.zeros(25000, dtype=np.int64),
        pairs=np.zeros((0, 2), dtype=np.int64),
        splits=("test",) * 5000,
        image_ids=known.image_ids[images],
        text_ids=known.text_ids[texts],
    )
    shuffled = known.judge_corpus(scores[np.ix_(images, texts)], corpus)
    ordered = known.judge(scores)
    assert {n: r.measures for n, r in shuffled.items()} == {
        n: r.measures for n, r in ordered.items()
    }
    joint = known.judge_jointly(scores[np.ix_(images, texts)], corpus).measures
    assert joint["rsum"] == ordered["COCO 5K"].measures["rsum"]
    assert joint["cxc_t2i_hit@1"] == ordered["CxC"].measures["t2i_hit@1"]
    assert joint["eccv_i2t_map@r"] == ordered["ECCV Caption"].measures["i2t_map@r"]
    with pytest.raises(EvaluationError, match="no image and text ids"):
        known.judge_corpus(scores, replace(corpus, image_ids=None))
    with pytest.raises(EvaluationError, match="1 image ids of COCO's test split are not in"):
        known.judge_corpus(scores, replace(corpus, image_ids=np.r_[-1, corpus.image_ids[1:]]))


def test_order_and_sizes_are_the_published_ones():
    kept = np.load(GOLDEN / "eccv_embeddings.npz")
    np.testing.assert_array_equal(truth().image_ids, kept["image_ids"])
    np.testing.assert_array_equal(truth().text_ids, kept["caption_ids"])
    sizes = {
        (name, way): (len(qrels.queries), int(qrels.sizes.sum()), int(qrels.sizes.max()))
        for name, ways in truth().truth.items()
        for way, qrels in ways.items()
    }
    assert sizes == {
        ("original", "i2t"): (5000, 25000, 5),
        ("original", "t2i"): (25000, 25000, 1),
        ("cxc", "i2t"): (5000, 35585, 19),
        ("cxc", "t2i"): (24972, 35585, 8),
        ("eccv", "i2t"): (1261, 22550, 48),
        ("eccv", "t2i"): (1332, 11279, 19),
    }
    eccv = truth().truth["eccv"]["i2t"]
    assert eccv.sizes.sum() - len(eccv.items) == 2  # texts that no gallery has


def test_a_constant_scorer_finds_nothing_and_says_under_which_rule():
    results = truth().judge(np.zeros((5000, 25000), dtype=np.float32))
    assert all(result.measures["rsum"] == 0 for result in results.values())
    assert {result.tie_rule for result in results.values()} == {"against the system"}
    assert results["ECCV Caption"].queries == {"i2t": 1261, "t2i": 1332}
    assert results["COCO 1K"].gallery == {"i2t": 5000, "t2i": 1000}


def test_other_shapes_are_refused_and_a_missing_package_is_named(monkeypatch):
    with pytest.raises(EvaluationError, match=r"\(5000, 25000\)"):
        truth().judge(np.zeros((2, 10), dtype=np.float32))
    monkeypatch.setattr(coco, "find_spec", lambda name: None)
    with pytest.raises(EvaluationError, match="deixis\\[eccv\\]"):
        CocoTest.load()
