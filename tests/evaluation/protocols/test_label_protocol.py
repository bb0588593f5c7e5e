"""Judging by labels equals the published measures."""

from pathlib import Path

import numpy as np
import pytest
import torch

from deixis.data.corpus import Corpus
from deixis.errors import EvaluationError
from deixis.evaluation.graded_measures import ndcg, shared_labels
from deixis.evaluation.protocols.label_protocol import (
    average_precision,
    chance_by_labels,
    evaluate_label_folds,
    evaluate_labels,
    first_rank,
    judge_labels,
    labels_of,
)
from deixis.evaluation.result import RunRanks
from deixis.evaluation.significance import compare
from deixis.methods.semantic_sharing import SemanticSharing
from deixis.runs.run import Run
from deixis.types import Sizes


def corpus(labels, texts_per_image=1, pairs=None):
    images = len(labels)
    owners = np.repeat(np.arange(images), texts_per_image)
    own = np.stack([owners, np.arange(len(owners))], axis=1)
    return Corpus(
        name="made",
        root=Path("."),
        files=tuple(map(str, range(images))),
        texts=tuple(map(str, range(len(owners)))),
        owners=owners,
        pairs=own if pairs is None else np.concatenate([own, pairs]),
        splits=("test",) * images,
        labels=labels.astype(bool),
    )


def cosine(a, b):
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    return a @ b.T


@pytest.mark.parametrize(("way", "key"), [("i2t", "map_i2t"), ("t2i", "map_t2i")])
@pytest.mark.parametrize("k", [0, 4])
def test_map_equals_the_published_one_of_dscmr(golden, way, key, k):
    arrays = golden("aoq/dscmr_single")
    scores = cosine(arrays["v1"], arrays["v2"])
    relevant = (arrays["labels"] @ arrays["labels"].T) > 0
    scores = scores if way == "i2t" else scores.T
    found = average_precision(scores, relevant, k or None).mean()
    assert found == pytest.approx(float(arrays[f"{key}_k{k}"]), abs=1e-9)


def test_map_by_distance_equals_the_published_one_of_dscmr(golden):
    arrays = golden("aoq/dscmr_single")
    distance = np.linalg.norm(arrays["v1"][:, None] - arrays["v2"][None], axis=2)
    relevant = (arrays["labels"] @ arrays["labels"].T) > 0
    found = average_precision(-distance, relevant).mean()
    assert found == pytest.approx(float(arrays["map_i2t_l2"]), abs=1e-9)


@pytest.mark.parametrize("k", [5, 12])
def test_ndcg_equals_the_published_one_of_semantic_sharing(golden, k):
    arrays = golden("aoq/labelwise_ndcg")
    images, labels = arrays["img"][::5], arrays["cap_labels"]
    corpus_ = corpus(labels[::5], texts_per_image=5)
    result = judge_labels(images @ arrays["cap"].T, corpus_, k)
    assert result.measures["i2t_ndcg"] == pytest.approx(float(arrays[f"i2t_ndcg_k{k}"]), abs=1e-5)
    published = float(arrays[f"t2i_ndcg_refbug_k{k}"])
    assert abs(result.measures["t2i_ndcg"] - published) > 0.1, "its discount is wrong, ours is not"


def test_ndcg_over_merged_tag_texts_equals_the_published_one(golden):
    """Identical tag texts are one text; an image asks for it, and it for all its images."""
    arrays = golden("aoq/labelwise_ndcg")
    unique, k = arrays["one_unique"], int(arrays["one_k"])
    scores = cosine(arrays["one_img"], arrays["one_txt"][unique])
    labels = arrays["one_labels"].astype(bool)
    grades = shared_labels(labels, labels[unique])
    i2t = 100 * ndcg(scores, grades, k).mean()
    t2i = 100 * ndcg(np.ascontiguousarray(scores.T), np.ascontiguousarray(grades.T), k).mean()
    assert i2t == pytest.approx(float(arrays["one_i2t_ndcg"]), abs=1e-5)
    assert t2i == pytest.approx(float(arrays["one_t2i_ndcg"]), abs=1e-5)


def test_chance_is_what_random_orders_average_to():
    random = np.random.default_rng(0)
    made = corpus(random.random((40, 5)) < 0.3)
    drawn = [judge_labels(random.random((40, 40)), made, 10).measures for _ in range(60)]
    for key, value in chance_by_labels(made, 10).items():
        assert value == pytest.approx(np.mean([x[key] for x in drawn]), abs=1.0), key


def test_equal_scores_are_worth_the_worst_order():
    labels = np.eye(4)[[0, 0, 1, 1]]
    worst = judge_labels(np.zeros((4, 4)), corpus(labels)).measures
    best = judge_labels(labels @ labels.T, corpus(labels)).measures
    assert best["i2t_ndcg"] == pytest.approx(100)
    assert best["i2t_map"] == pytest.approx(100)
    assert worst["i2t_map"] == pytest.approx(100 * np.mean([1 / 3, 2 / 4]))


def test_a_text_has_the_labels_of_its_own_image_alone():
    made = corpus(np.eye(3), pairs=np.array([[2, 0]]))
    assert labels_of(made)[1].tolist() == np.eye(3, dtype=bool).tolist()


def test_the_first_rank_counts_ties_against_the_system():
    scores = np.array([[3.0, 2.0, 2.0, 1.0]])
    assert first_rank(scores, np.array([[False, True, False, True]])).tolist() == [3]
    assert first_rank(scores, np.array([[False] * 4])).tolist() == [5]


def test_a_split_without_labels_is_refused():
    made = corpus(np.eye(3))
    with pytest.raises(EvaluationError, match="no labels"):
        judge_labels(np.zeros((3, 3)), Corpus(**{**vars(made), "labels": None}))
    with pytest.raises(EvaluationError, match="image, text"):
        judge_labels(np.zeros((3, 4)), made)


def test_a_model_that_predicts_labels_is_judged_on_them():
    from dataclasses import replace

    from made import made_dataset

    torch.manual_seed(0)
    dataset = made_dataset(images=12)
    labels = np.random.default_rng(0).random((12, 4)) < 0.5
    dataset = replace(dataset, corpus=replace(dataset.corpus, labels=labels))
    method = SemanticSharing(dim=8, word_dim=4, heads=2, layers=1, inner=8)
    model = method.model(Sizes(region=8, vocabulary=30, labels=4))
    torch.nn.init.zeros_(model.image.head.classifier.weight)
    torch.nn.init.ones_(model.image.head.classifier.bias)
    measures = evaluate_labels(model, dataset).measures
    share = labels.mean()
    assert measures["image_f1"] == pytest.approx(100 * 2 * share / (1 + share))
    assert {"text_f1", "i2t_ndcg", "t2i_ndcg", "i2t_map", "t2i_map", "ndcg"} <= set(measures)


def test_label_folds_are_the_mean_of_their_folds_judged_alone():
    from dataclasses import replace

    from made import made_dataset

    torch.manual_seed(0)
    dataset = made_dataset(images=12)
    labels = np.random.default_rng(0).random((12, 4)) < 0.5
    dataset = replace(dataset, corpus=replace(dataset.corpus, labels=labels))
    method = SemanticSharing(dim=8, word_dim=4, heads=2, layers=1, inner=8)
    model = method.model(Sizes(region=8, vocabulary=30, labels=4))
    folds = [evaluate_labels(model, dataset.keep(np.arange(12) // 4 == f)) for f in range(3)]
    found = evaluate_label_folds(model, dataset, 3)
    for key, value in found.measures.items():
        assert value == pytest.approx(np.mean([fold.measures[key] for fold in folds]))
    assert found.gallery["t2i"] == 4 and len(found.ranks["i2t"]) == 12
    assert found.measures["image_f1"] != evaluate_labels(model, dataset).measures["image_f1"]


def test_two_runs_judged_by_labels_are_paired_by_ndcg(tmp_path):
    random = np.random.default_rng(0)
    made = corpus(random.random((40, 5)) < 0.4)
    grades = shared_labels(*labels_of(made)).astype(float)
    runs = []
    for name, noise in (("good", 1.0), ("bad", 5.0)):
        judged = judge_labels(grades + noise * random.normal(size=grades.shape), made)
        judged.save_ranks(Run(tmp_path / name))
        runs.append((judged, RunRanks.load(Run(tmp_path / name))))
    found = {d.measure: d for d in compare(runs[0][1], runs[1][1])}
    for way in ("i2t", "t2i"):
        pair = found[f"{way}_ndcg"]
        assert pair.first == pytest.approx(runs[0][0].measures[f"{way}_ndcg"], abs=1e-4)
        assert pair.second == pytest.approx(runs[1][0].measures[f"{way}_ndcg"], abs=1e-4)
        assert 0 < pair.low < pair.difference < pair.high
