"""Sentences people judged, on made vectors whose scores are known."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from deixis.data.corpus import Corpus
from deixis.data.dataset import Dataset
from deixis.encoders.encoder import Encoder
from deixis.encoders.frozen_features import FrozenFeatures
from deixis.errors import DataError, EvaluationError
from deixis.evaluation.entailment.entailment_protocol import judge_entailment
from deixis.evaluation.entailment.judged_sentences import FILE, JudgedSentence, read_sentences
from deixis.evaluation.image_bootstrap import interval_over_images
from deixis.features.store.packed import PackedRegions, PackedTokens
from deixis.heads.all_parts import AllParts
from deixis.methods.model import Model
from deixis.runs.matcher import Matcher
from deixis.runs.run_config import RunConfig
from deixis.similarity.similarity import Cosine
from deixis.types import Sizes, as_embedding

IMAGES = 6
CONFIG = RunConfig({"name": "vsepp"}, Sizes(), "lite0", "minilm")


class Known(Matcher):
    """A matcher whose sentences score what is given for their text."""

    def __init__(self, scores: dict[str, float]) -> None:
        super().__init__(Model(unchanged(), unchanged(), Cosine()), CONFIG, None)
        self.scores = scores

    def encode_text(self, texts):
        return as_embedding(torch.tensor([[self.scores[text], 0.0] for text in texts]))


def unchanged() -> Encoder:
    return Encoder(FrozenFeatures(), AllParts())


@pytest.fixture
def corpus():
    numbers = np.arange(IMAGES)
    return Corpus(
        name="made",
        root=Path(),
        files=tuple(f"images/{image}.jpg" for image in numbers),
        texts=tuple(f"caption {image}" for image in numbers),
        owners=numbers,
        pairs=np.stack([numbers, numbers], axis=1),
        splits=("val",) * IMAGES,
    )


@pytest.fixture
def dataset(corpus):
    """Images at (1, 0), captions at (0.8, 0): each scores 0.8."""
    items, offsets = np.arange(IMAGES), np.arange(IMAGES + 1)
    regions = PackedRegions(np.tile(np.float32([1, 0]), (IMAGES, 1)), offsets)
    captions = np.tile(np.float32([0.8, 0]), (IMAGES, 1))
    tokens = PackedTokens(np.zeros(IMAGES, np.int64), offsets, captions)
    return Dataset(corpus, regions, tokens, items, items)


def matcher(**scores: float) -> Matcher:
    return Known(scores)


def sentences(*images):
    return [JudgedSentence(i, text, text == "true") for i in images for text in ("true", "false")]


def test_a_model_that_prefers_what_is_true_is_always_right(dataset):
    found = judge_entailment(matcher(true=0.5, false=0.1), dataset, sentences(0, 1, 2))
    assert found.accuracy == (100, 100, 100)
    assert found.captions == (100, 100, 100)
    assert (found.images, found.pairs) == (3, 3)


def test_a_model_that_prefers_what_is_false_never_is(dataset):
    found = judge_entailment(matcher(true=0.1, false=0.9), dataset, sentences(0, 1))
    assert found.accuracy == (0, 0, 0)
    assert found.captions == (0, 0, 0)


def test_equal_scores_count_against_the_system(dataset):
    found = judge_entailment(matcher(true=0.8, false=0.8), dataset, sentences(0, 1))
    assert found.accuracy[0] == found.captions[0] == 0


def test_sentences_meet_only_those_about_the_same_image(dataset):
    apart = [JudgedSentence(0, "true", True), JudgedSentence(1, "false", False)]
    with pytest.raises(EvaluationError, match="both a true sentence and a contradicted one"):
        judge_entailment(matcher(true=0.5, false=0.1), dataset, apart)
    found = judge_entailment(matcher(true=0.5, false=0.1), dataset, [*apart, *sentences(2)])
    assert found.pairs == 1


def test_two_runs_are_compared_pair_by_pair(dataset):
    good = judge_entailment(matcher(true=0.5, false=0.1), dataset, sentences(0, 1))
    bad = judge_entailment(matcher(true=0.1, false=0.5), dataset, sentences(0, 1))
    assert good.above(bad) == (100, 100, 100)
    assert good.above(good) == (0, 0, 0)
    with pytest.raises(EvaluationError, match="other sentences"):
        good.above(replace(bad, split_sha="another"))


def test_images_are_drawn_with_all_their_pairs():
    """Ten right pairs of one image are one observation, not ten."""
    values = np.array([100.0] * 10 + [0.0] * 10)
    _, low, high = interval_over_images(values, np.repeat([0, 1], 10))
    assert (low, high) == (0, 100)
    _, low, high = interval_over_images(values, np.arange(20))
    assert 20 < low < high < 80


def write(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def test_neutral_sentences_and_other_images_are_left_out(tmp_path, corpus):
    write(
        tmp_path / FILE,
        {"file": "0.jpg", "text": "a", "label": "entailment", "split": "val"},
        {"file": "0.jpg", "text": "b", "label": "neutral"},
        {"file": "3.jpg", "text": "c", "label": "contradiction"},
        {"file": "absent.jpg", "text": "d", "label": "entailment"},
    )
    found = read_sentences(tmp_path, corpus)
    assert found == (JudgedSentence(0, "a", True), JudgedSentence(3, "c", False))


def test_the_layout_of_snli_ve_is_read_too(tmp_path, corpus):
    one = {"Flickr30K_ID": "4", "sentence2": "A dog.", "gold_label": "contradiction"}
    write(tmp_path / "snli_ve_dev.jsonl", one, one | {"gold_label": "-"})
    found = read_sentences(tmp_path / "snli_ve_dev.jsonl", corpus)
    assert found == (JudgedSentence(4, "A dog.", False),)


def test_what_cannot_be_read_is_named(tmp_path, corpus):
    with pytest.raises(DataError, match=FILE):
        read_sentences(tmp_path, corpus)
    path = tmp_path / FILE
    write(path, {"file": "0.jpg", "text": "a", "label": "maybe"})
    with pytest.raises(DataError, match=r"hard_text.jsonl:1: the label is 'maybe'"):
        read_sentences(path, corpus)
    write(path, {"file": "0.jpg", "text": 7, "label": "neutral"})
    with pytest.raises(DataError, match="needs file, text and label"):
        read_sentences(path, corpus)
    write(path, {"file": "absent.jpg", "text": "a", "label": "entailment"})
    with pytest.raises(EvaluationError, match="about an image of corpus 'made'"):
        read_sentences(path, corpus)
