"""What a model saw is what its similarity computed, and is drawn without losing any of it."""

import json
import re

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from deixis.errors import RunError
from deixis.explanation.attention_view import attention_view, attention_views, mean_gate
from deixis.features.store.packed import PackedRegions
from deixis.features.words.vocabulary import Vocabulary
from deixis.methods.bfan import BFAN
from deixis.methods.camp import CAMP, ReleasedCAMP
from deixis.methods.scan import SCAN
from deixis.pages.attention_page import attention_page
from deixis.pages.figures.attention_panels import (
    attention_sheet,
    gate_panels,
    region_panels,
    word_panels,
)
from deixis.runs.matcher import Matcher
from deixis.runs.run_config import RunConfig
from deixis.types import Sizes

SIZES = Sizes(region=6, vocabulary=9)
WORDS = Vocabulary(("a", "ball", "dog", "red"))
BOXES = np.array(
    [[0, 1, 0, 1, 1], [0, 0.5, 0, 0.5, 0.25], [0.5, 1, 0.5, 1, 0.25]], dtype=np.float32
)
ATTENDING = [
    CAMP(dim=8, word_dim=4),
    CAMP(dim=8, word_dim=4, fuse=False),
    ReleasedCAMP(dim=8, word_dim=4),
    ReleasedCAMP(dim=8, word_dim=4, stage="messages"),
    SCAN(dim=8, word_dim=4),
    SCAN(dim=8, word_dim=4, direction="i2t"),
    BFAN(dim=8, word_dim=4),
]


class ThreeRegions:
    """Random regions that depend on the file's name alone."""

    name = "three"

    def read(self, path):
        return np.random.default_rng(len(path.name)).normal(size=(3, 6)).astype(np.float32)

    def __call__(self, pictures):
        offsets = np.arange(0, 3 * len(pictures) + 1, 3)
        return PackedRegions(np.concatenate(pictures), offsets, np.tile(BOXES, (len(pictures), 1)))


def matcher_of(method) -> Matcher:
    config = RunConfig({"name": method.name}, SIZES, "three", "words")
    matcher = Matcher(method.model(SIZES), config, WORDS)
    matcher.__dict__["_image_backbone"] = ThreeRegions()
    return matcher


@pytest.fixture
def pairs(tmp_path):
    Image.new("RGB", (60, 40), (0, 90, 200)).save(tmp_path / "sea.png")
    Image.new("RGB", (40, 60), (90, 200, 0)).save(tmp_path / "field.png")
    return [(tmp_path / "sea.png", "a red ball"), (tmp_path / "field.png", "a dog <b>")]


@pytest.mark.parametrize("method", ATTENDING, ids=repr)
def test_attention_adds_up_and_the_score_is_the_models(method, pairs):
    matcher = matcher_of(method)
    view = attention_view(matcher, pairs[0])
    assert view.words == ("<start>", "a", "red", "ball", "<end>")
    shown = [table for table in (view.to_words, view.to_regions) if table is not None]
    assert shown
    for table in shown:
        np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-5)
    images, texts = matcher.encode_image([pairs[0][0]]), matcher.encode_text([pairs[0][1]])
    assert view.score == pytest.approx(matcher.similarity(images, texts).item(), abs=1e-6)
    assert attention_sheet(view).content("png").startswith(b"\x89PNG")
    assert json.dumps(view.to_dict())


def test_word_pieces_with_frozen_states_are_shown_by_name(pairs):
    sizes = Sizes(region=6, token=384)
    config = RunConfig({"name": "camp"}, sizes, "three", "minilm")
    matcher = Matcher(CAMP(dim=8).model(sizes), config, None)
    matcher.__dict__["_image_backbone"] = ThreeRegions()
    view = attention_view(matcher, pairs[0])
    assert view.words == ("[CLS]", "a", "red", "ball", "[SEP]")
    assert view.to_regions.shape == (5, 3)


def test_a_model_without_attention_is_refused_with_the_reason(pairs):
    base = matcher_of(CAMP(dim=8, word_dim=4, attend=False, fuse=False))
    with pytest.raises(RunError, match="method 'camp' compares whole items"):
        attention_view(base, pairs[0])


def test_two_pairs_are_shown_as_given_and_swapped(pairs):
    views = attention_views(matcher_of(ATTENDING[0]), pairs)
    assert [(s.picture.stem, s.text, s.given) for s in views] == [
        ("sea", "a red ball", True),
        ("field", "a dog <b>", True),
        ("sea", "a dog <b>", False),
        ("field", "a red ball", False),
    ]
    gates = np.concatenate([np.concatenate([s.region_gates, s.word_gates]) for s in views[2:]])
    assert mean_gate(views, given=False) == pytest.approx(gates.mean(), abs=1e-6)


def test_there_is_a_panel_for_every_word_and_every_region(pairs):
    view = attention_view(matcher_of(ATTENDING[0]), pairs[0])
    assert (len(word_panels(view)), len(region_panels(view))) == (5, 3)
    assert len(gate_panels(view)) == 1
    one_way = attention_view(matcher_of(SCAN(dim=8, word_dim=4)), pairs[0])
    assert not gate_panels(one_way)
    assert (len(word_panels(one_way)), len(region_panels(one_way))) == (5, 0)


def test_the_page_stands_alone_and_shows_texts_as_text(pairs):
    checked = {"gate": 61.2, "gate_swapped": 48.9}
    content = attention_page("views", attention_views(matcher_of(ATTENDING[0]), pairs), checked)
    assert content.count("data:image/jpeg;base64,") == 4 * (1 + 5 + 3)
    assert "a dog &lt;b&gt;" in content
    assert not re.search(r'(src|href)="(?!data:|#)', content)
    assert "Mean gate of the given pairs" in content
    assert "0.612 for matching pairs, 0.489 for swapped ones" in content


def test_the_verb_writes_drawings_and_a_page(monkeypatch, pairs, tmp_path):
    from deixis.cli import attention  # noqa: F401
    from deixis.cli.command import app

    monkeypatch.setattr("deixis.runs.matcher.load", lambda run: matcher_of(ATTENDING[0]))
    given = [str(part) for pair in pairs for part in pair]
    asked = ["attention", "run", *given, "--to", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert [view["text"] for view in json.loads(done.stdout)[:2]] == [text for _, text in pairs]
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["1.png", "2.png", "3.png", "4.png", "index.html"]
