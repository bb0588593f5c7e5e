"""Shares are what the scorer that ranked a picture really loses, word by word, place by place."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent.parent / "search"))


from deixis.errors import DataError, RunError, SearchError
from deixis.explanation.attribution import explain, without_stroke, without_word
from deixis.features.store.image_files import opened
from deixis.features.trace.drawing import Drawing, Link
from deixis.features.trace.narration import Point, TimedWord
from deixis.features.words.vocabulary import Vocabulary
from deixis.methods import load_all
from deixis.methods.model import methods
from deixis.runs.matcher import Matcher
from deixis.runs.run_config import RunConfig
from deixis.search.encoders.embedded_parts import EmbeddedParts, EncodedFiles
from deixis.search.encoders.torch_encoder import TorchEncoder
from deixis.search.query.encode_queries import encode_queries
from deixis.search.query.query import Query
from deixis.types import Regions, Sizes
from fake_encoder import FakeEncoder

TEXT = "a red dog"


class Seen(Matcher):
    """A matcher whose only picture has four made-up regions and one that is padding."""

    def regions(self, files):
        random = torch.Generator().manual_seed(0)
        values = torch.randn(1, 5, 8, generator=random)
        mask = torch.tensor([[True, True, True, True, False]])
        return Regions(values, mask, boxes=torch.rand(1, 5, 5, generator=random))


def run_of(method):
    load_all()
    torch.manual_seed(0)
    vocabulary = Vocabulary.count([TEXT])
    sizes = Sizes(region=8, vocabulary=vocabulary.size)
    options = {key: value for key, value in method.items() if key != "name"}
    model = methods.build(method["name"], options).model(sizes)
    run = TorchEncoder(Path("nowhere"))
    run.matcher = Seen(model, RunConfig(method, sizes, "lite0", "words"), vocabulary)
    return run


@pytest.fixture(params=[{"name": "vse_infinity", "dim": 16}, {"name": "scan", "dim": 16}])
def run(request):
    return run_of(request.param)


def score(matcher, text, kept):
    """The score with regions really taken out, not masked."""
    seen = matcher.regions([])
    image = Regions(seen.values[:, kept], seen.mask[:, kept])
    with torch.no_grad():
        found = matcher.similarity(matcher.model.image(image), matcher.encode_text([text]))
    return float(found)


def test_shares_are_what_the_scorer_loses(run):
    found, matcher = explain(run, Query(text=TEXT), Path("a.jpg")), run.matcher
    everything = [0, 1, 2, 3]
    full = score(matcher, TEXT, everything)
    assert found.by == "removal"
    assert found.score == pytest.approx(full, abs=1e-5)
    assert found.boxes.shape == (4, 5)
    assert (found.text_score, len(found.strokes), len(found.looks)) == (None, 0, 0)
    texts = ["red dog", "a dog", "a red"]
    assert [TEXT[start:end] for start, end in found.spans] == ["a", "red", "dog"]
    for word, without in enumerate(texts):
        no_word = score(matcher, without, everything)
        assert found.words[word] == pytest.approx(full - no_word, abs=1e-5)
        for region in everything:
            kept = [one for one in everything if one != region]
            no_region, neither = score(matcher, TEXT, kept), score(matcher, without, kept)
            assert found.places[region] == pytest.approx(full - no_region, abs=1e-5)
            expected = full - no_word - no_region + neither
            assert found.together[word, region] == pytest.approx(expected, abs=1e-5)
    assert found.drop == pytest.approx(max(found.places.max(), 0.0))
    assert np.abs(found.together).max() > 1e-4


def test_a_query_of_one_word_is_compared_with_no_words(run):
    found = explain(run, Query(text="dog"), Path("a.jpg"))
    nothing = score(run.matcher, "", [0, 1, 2, 3])
    assert found.words[0] == pytest.approx(found.score - nothing, abs=1e-5)


def test_a_text_of_too_many_words_is_refused(run):
    with pytest.raises(DataError, match="the query has 49 words"):
        explain(run, Query(text="dog " * 49), Path("a.jpg"))


def test_sets_show_what_each_element_looks_at():
    run = run_of({"name": "dive", "dim": 16})
    found = explain(run, Query(text=TEXT), Path("a.jpg"))
    image = run.matcher.encode_image([Path("a.jpg")]).vectors[0]
    text = run.matcher.encode_text([TEXT]).vectors[0]
    assert found.looks.shape == (len(image), 4)
    np.testing.assert_allclose(found.affinity, (image @ text.T).amax(dim=1), rtol=1e-4)


STROKES = tuple(tuple(Point(x + i / 50, 0.5, i / 10) for i in range(5)) for x in (0.1, 0.7))
LINKS = (Link(2, 5, 0), Link(6, 9, 1))


def test_with_a_trace_shares_are_of_the_fused_score():
    options = {"dim": 16, "word_dim": 8, "heads": 2, "query_depth": 1, "image_depth": 1}
    run = run_of({"name": "text_trace", "fusion": "word", **options})
    query = Query(TEXT, drawing=Drawing(STROKES, links=LINKS, weight=0.7))
    found = explain(run, query, Path("a.jpg"))
    (encoded,) = encode_queries(run, [query])
    image = run.encode_image([Path("a.jpg")]).parts.vectors[0, 0]
    assert found.score == pytest.approx(float(encoded.whole[0] @ image), abs=1e-5)
    assert found.text_score == pytest.approx(float(encoded.text[0] @ image), abs=1e-5)
    assert found.score != pytest.approx(found.text_score, abs=1e-4)
    one = Query(TEXT, drawing=Drawing(STROKES[:1], links=LINKS[:1], weight=0.7))
    (less,) = encode_queries(run, [one])
    assert found.strokes[1] == pytest.approx(found.score - float(less.whole[0] @ image), abs=1e-5)


def test_a_word_taken_away_takes_the_strokes_along_that_only_it_had():
    drawing = Drawing(STROKES, tuple(TimedWord(w, 0.0, 1.0) for w in TEXT.split()), LINKS)
    text, less = without_word(TEXT, drawing, 1)
    assert (text, less.strokes, less.links) == ("a  dog", STROKES[1:], (Link(3, 6, 0),))
    assert [word.text for word in less.words] == ["a", "dog"]
    phrase = Drawing(STROKES, links=(Link(0, 9, 0), Link(6, 9, 1)))
    assert without_word(TEXT, phrase, 1)[1].links == (Link(0, 6, 0), Link(3, 6, 1))
    assert without_stroke(phrase, 0).links == (Link(6, 9, 0),)


class Brightness(FakeEncoder):
    """Encodes a picture as how bright its quarters are, a text as which quarter it names."""

    reads_traces = False

    def encode_image(self, files):
        vectors = []
        for file in files:
            with opened(file) as content, Image.open(content) as picture:
                grey = np.asarray(picture.convert("L").resize((2, 2), Image.Resampling.BOX))
            vectors.append(grey.ravel().astype(np.float32) / 255)
        return EncodedFiles(
            EmbeddedParts(np.stack(vectors)[:, None], np.ones((len(files), 1), dtype=bool)), {}
        )

    def encode_text(self, texts):
        names = ("left", "right")
        vectors = [[name in text for name in names] + [False] * 2 for text in texts]
        return EmbeddedParts(
            np.array(vectors, dtype=np.float32)[:, None], np.ones((len(texts), 1), bool)
        )

    def score(self, texts, images):
        return texts.vectors[:, 0] @ images.vectors[:, 0].T


def test_a_model_of_whole_pictures_shares_out_words_and_shows_no_places(tmp_path):
    """Covered places peak in the right box no more often than the centre lies there."""
    Image.new("RGB", (400, 300), "white").save(tmp_path / "a.png")
    found = explain(Brightness(), Query(text="the left"), tmp_path / "a.png")
    assert found.by == "words"
    assert found.score == pytest.approx(1.0, abs=1e-3)
    assert found.words.tolist() == pytest.approx([0, 1], abs=1e-3)
    assert len(found.boxes) == len(found.places) == len(found.maps) == found.drop == 0


def test_the_command_explains_by_a_library_or_a_model_and_draws(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from deixis.cli import explain as _  # noqa: F401
    from deixis.cli.command import app
    from deixis.explanation import attribution
    from deixis.search.library import library

    Image.new("L", (40, 20), 200).save(tmp_path / "a.png")
    for module in (attribution, library):
        monkeypatch.setattr(module, "load_encoder", lambda model: Brightness())
    given = [str(tmp_path / "a.png"), "the left"]
    done = CliRunner().invoke(
        app, ["explain", str(tmp_path), *given, "--to", str(tmp_path / "why.png")]
    )
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    score = float(lines[0].split()[1])
    assert [line.split()[1] for line in lines[1:3]] == ["the", "left"]
    assert "says nothing of places" in lines[3]
    assert float(lines[2].split()[0]) == pytest.approx(score, abs=1e-3)
    with Image.open(tmp_path / "why.png") as drawn:
        assert drawn.width > 40
    done = CliRunner().invoke(app, ["explain", str(tmp_path), *given, "--json"])
    assert json.loads(done.output)["words"][1]["start_char"] == 4


def test_a_model_that_is_not_there_and_a_broken_picture_are_named(tmp_path):
    with pytest.raises(RunError, match="no library or run folder at nowhere"):
        explain("nowhere", "the left", tmp_path / "a.png")

    class Broken(Brightness):
        def encode_image(self, files):
            parts = EmbeddedParts(np.zeros((0, 1, 4), np.float32), np.zeros((0, 1), dtype=bool))
            return EncodedFiles(parts, {0: "cut short"})

    with pytest.raises(SearchError, match=r"a\.png cannot be explained: cut short"):
        explain(Broken(), "the left", tmp_path / "a.png")
