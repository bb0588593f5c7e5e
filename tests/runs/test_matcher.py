"""A run folder is loaded back as it was, or refused with the reason."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

import deixis
from deixis.errors import RunError
from deixis.features.trace.narration import Narration, Point
from deixis.features.words.vocabulary import Vocabulary
from deixis.methods.text_trace import TextTrace
from deixis.methods.vsepp import VSEPP
from deixis.runs.matcher import Matcher
from deixis.runs.run_config import RunConfig
from deixis.types import Sizes

SIZES = Sizes(region=1280, vocabulary=12)
OPTIONS = {"name": "vsepp", "dim": 16, "word_dim": 8}
WORDS = Vocabulary(("a", "ball", "boat", "dog", "red", "sky", "tree"))


@pytest.fixture
def run(tmp_path):
    model = VSEPP(dim=16, word_dim=8).model(SIZES)
    Matcher(model, RunConfig(OPTIONS, SIZES, "lite0", "words"), WORDS).save(tmp_path / "run")
    return tmp_path / "run"


def test_three_lines_encode_and_score(run, tmp_path):
    for name, colour in (("red", (255, 0, 0)), ("blue", (0, 0, 255))):
        Image.new("RGB", (64, 48), colour).save(tmp_path / f"{name}.png")
    matcher = deixis.load(run)
    images = matcher.encode_image([tmp_path / "red.png", tmp_path / "blue.png"])
    scores = matcher.similarity(images, matcher.encode_text(["a red ball", "sky", "a dog"]))
    assert scores.shape == (2, 3)
    assert scores.abs().max() <= 1.0 + 1e-5


def test_a_text_is_embedded_the_same_alone_and_in_company(run):
    matcher = deixis.load(run)
    alone = matcher.encode_text(["a dog"]).vectors
    together = matcher.encode_text(["a red ball a red ball a red ball", "a dog"]).vectors
    torch.testing.assert_close(alone[0], together[1])


def test_identity_follows_weights_and_vocabulary_not_the_recipe(run, tmp_path):
    first = deixis.load(run)
    same = Matcher(first.model, RunConfig(OPTIONS, SIZES, "lite0", "words", "other", 7), WORDS)
    assert same.identity == first.identity
    fewer = Vocabulary(WORDS.words[:-1])
    assert Matcher(first.model, first.config, fewer).identity != first.identity


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"not a finished run: it has no config\.json"):
        deixis.load(tmp_path)


def test_a_run_whose_weights_do_not_fit_is_refused(run):
    config = json.loads((run / "config.json").read_text())
    config["method"]["dim"] = 32
    (run / "config.json").write_text(json.dumps(config))
    with pytest.raises(RunError, match="do not fit"):
        deixis.load(run)


def test_numpy_takes_the_embedding_as_it_is(run):
    vectors = deixis.load(run).encode_text(["a dog"]).vectors.numpy()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=-1), 1.0, rtol=1e-5)


def test_the_window_of_the_run_cuts_the_traces_of_queries(tmp_path):
    options = {"name": "text_trace", "dim": 16, "word_dim": 8, "heads": 2, "query_depth": 1}
    model = TextTrace(**{key: options[key] for key in options if key != "name"}).model(SIZES)
    strokes = (tuple(Point(0.1 * n, 0.5, 0.1 * n) for n in range(10)),)
    drawn = {}
    for window in (0.4, 0.1):
        config = RunConfig(options, SIZES, "lite0", "words", window=window)
        Matcher(model, config, WORDS).save(tmp_path / str(window))
        matcher = deixis.load(tmp_path / str(window))
        assert matcher.config.window == window
        drawn[window] = matcher.encode_narration([Narration("a red boat", (), strokes)]).vectors
    assert not torch.allclose(drawn[0.4], drawn[0.1])
