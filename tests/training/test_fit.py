"""The loop with parts of one's own, and the short way from a corpus to a matcher."""

import numpy as np
import pytest
import torch

import deixis
from deixis.data.batches.pairs import PairBatches
from deixis.errors import EvaluationError
from deixis.evaluation.judge import evaluate_split
from deixis.methods.vsepp import VSEPP
from deixis.types import Sizes
from made import made_dataset

SIZES = Sizes(region=8, vocabulary=30)
METHOD = VSEPP(dim=16, word_dim=8, negatives="every")


def fitted(validate=None, records=None, **spec):
    torch.manual_seed(0)
    data = made_dataset()
    model = METHOD.model(SIZES)
    start = {name: value.clone() for name, value in model.state_dict().items()}
    spec = deixis.TrainSpec(batch=8, lr=1e-2, schedule="constant", **{"length": 40} | spec)
    batches, hear = PairBatches(data, 8, seed=0), (records if records is not None else []).append
    done = deixis.fit(
        model, METHOD.objective(SIZES), batches, spec, validate=validate, on_step=hear
    )
    assert done is model and not model.training
    return model, start, data


def test_a_model_learns_where_it_is():
    records = []
    model, start, data = fitted(records=records)
    assert [record["step"] for record in records] == list(range(1, 41))
    untrained = METHOD.model(SIZES)
    untrained.load_state_dict(start)
    gained = [evaluate_split(one, data).measures["rsum"] for one in (untrained, model)]
    assert gained[1] > gained[0] + 50


def test_validation_chooses_the_weights():
    seen = []

    def validate(model) -> float:
        seen.append({name: value.clone() for name, value in model.state_dict().items()})
        return [1.0, 5.0, 2.0, 3.0][len(seen) - 1]

    model, _, _ = fitted(validate, validate_every=10)
    assert len(seen) == 4
    kept = model.state_dict()
    assert all(torch.equal(kept[name], seen[1][name]) for name in kept)


def test_without_validation_the_last_weights_stay():
    long, short = fitted(length=40)[0].state_dict(), fitted(length=20)[0].state_dict()
    assert any(not torch.equal(long[name], short[name]) for name in long)


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))
    random = np.random.default_rng(0)
    colours = {"red": (220, 30, 30), "green": (30, 200, 30), "blue": (30, 30, 220)}
    names = [list(colours)[number % 3] for number in range(18)]
    pictures = [
        np.clip(random.normal(colours[name], 20, (40, 40, 3)), 0, 255).astype(np.uint8)
        for name in names
    ]
    splits = ["train"] * 12 + ["val"] * 3 + ["test"] * 3
    return deixis.Corpus.from_pairs(pictures, [f"a {n} wall" for n in names], splits=splits)


def test_a_corpus_in_memory_becomes_a_run_that_is_loaded_and_evaluated(corpus, tmp_path):
    spec = deixis.TrainSpec(length=60, batch=6, lr=3e-3, schedule="constant", validate_every=20)
    matcher = deixis.train(corpus, METHOD, spec)
    test = deixis.prepare(corpus).splits["test"]
    measured = deixis.evaluate(matcher, test).measures
    assert measured["t2i_hit@1"] == 100.0
    matcher.save(tmp_path / "run")
    again = deixis.load(tmp_path / "run")
    texts = ["a red wall", "a blue wall"]
    torch.testing.assert_close(again.encode_text(texts).vectors, matcher.encode_text(texts).vectors)
    with pytest.raises(EvaluationError, match="evaluated on a Dataset"):
        deixis.evaluate(matcher, "test")


def test_a_method_may_be_given_by_its_name(corpus):
    matcher = deixis.train(corpus, "vsepp", deixis.TrainSpec(length=1, batch=4))
    assert matcher.config.method["name"] == "vsepp"
    assert matcher.config.method["dim"] == 1024


def test_an_unknown_protocol_names_the_known_ones(corpus):
    matcher = deixis.train(corpus, METHOD, deixis.TrainSpec(length=1, batch=4))
    test = deixis.prepare(corpus).splits["test"]
    with pytest.raises(EvaluationError, match="no protocol 'halves'; there are: whole, folds"):
        deixis.evaluate(matcher, test, protocol="halves")
