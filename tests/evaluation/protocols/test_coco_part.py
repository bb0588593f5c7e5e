"""Judgements of COCO's test split, restricted to a part of it."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from deixis.data.corpus import Corpus
from deixis.errors import EvaluationError
from deixis.evaluation.protocols.coco_judgements import CocoTest
from deixis.evaluation.protocols.coco_part import judge_part, judge_part_jointly, restricted
from deixis.evaluation.qrels import Qrels

pytest.importorskip("eccv_caption")


@cache
def whole() -> CocoTest:
    return CocoTest.load()


def corpus_of(images: list[int]) -> Corpus:
    """Some images of the split, by their places, with five texts each."""
    owners = np.repeat(np.arange(len(images)), 5)
    return Corpus(
        name="part",
        root=Path(),
        files=tuple(f"images/{whole().image_ids[image]:012d}.jpg" for image in images),
        texts=tuple(f"text {text}" for text in range(len(owners))),
        owners=owners,
        pairs=np.stack([owners, np.arange(len(owners))], axis=1),
        splits=("val",) * len(images),
    )


def test_judgements_are_renumbered_and_those_not_at_hand_left_out():
    qrels = Qrels.of_pairs(np.array([[0, 1], [0, 2], [3, 2], [4, 0]]))
    part = restricted(qrels, np.array([3, 0]), np.array([2, 5]))
    assert part.queries.tolist() == [0, 1]
    assert part.items.tolist() == [0, 0]
    assert part.sizes.tolist() == [1, 1]


@pytest.mark.slow
def test_the_whole_split_gives_its_official_numbers():
    scores = np.random.default_rng(0).normal(size=(5000, 25000)).astype(np.float32)
    scores[np.arange(5000).repeat(5), np.arange(25000)] += 3.0
    official = whole().judge(scores)
    part = judge_part(scores, corpus_of(list(range(5000))), whole())
    for ours, theirs in (("COCO, images at hand", "COCO 5K"), ("CxC, images at hand", "CxC")):
        for measure, value in official[theirs].measures.items():
            assert part[ours].measures[measure] == pytest.approx(value), measure
    measure = "t2i_hit@1"
    assert part["ECCV Caption, images at hand"].measures[measure] == pytest.approx(
        official["ECCV Caption"].measures[measure]
    )


def test_a_perfect_model_is_perfect_on_a_part_in_another_order():
    images = [7, 3, 4999, 12]
    owners = np.repeat(np.arange(4), 5)
    scores = (owners == np.arange(4)[:, None]).astype(float)
    found = judge_part_jointly(scores, corpus_of(images), whole())
    assert found.measures["rsum"] == 600
    assert found.measures["cxc_t2i_hit@1"] == 100


def test_images_of_another_corpus_are_refused():
    corpus = corpus_of([0, 1])
    with pytest.raises(EvaluationError, match="not an image of COCO's test split"):
        judge_part(
            np.zeros((2, 10)), Corpus(**{**vars(corpus), "files": ("a.jpg", "b.jpg")}), whole()
        )
    owners = np.zeros(6, dtype=np.int64)
    pairs = np.stack([owners, np.arange(6)], axis=1)
    more = {**vars(corpus_of([0])), "texts": ("a",) * 6, "owners": owners, "pairs": pairs}
    with pytest.raises(EvaluationError, match="more texts than COCO lists"):
        judge_part(np.zeros((1, 6)), Corpus(**more), whole())
