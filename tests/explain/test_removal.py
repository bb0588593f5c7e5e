"""Shares are what the scorer that ranked a picture really loses, word by word, place by place."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent.parent / "search"))

from fake_encoder import FakeEncoder

from deixis.errors import DataError
from deixis.explain.covering import CELLS, covered
from deixis.explain.why import explain, without_stroke, without_word
from deixis.features.alignment import Drawn, Link
from deixis.features.narration import Point, TimedWord
from deixis.features.words import Vocabulary
from deixis.methods import load_all
from deixis.methods.matcher import Matcher, RunConfig
from deixis.methods.model import Sizes, methods
from deixis.search.asking import ask
from deixis.search.matching import RunEncoder
from deixis.search.parts import Encoded, Parts
from deixis.search.query import Query
from deixis.types import Regions

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
    run = RunEncoder(Path("nowhere"))
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


def test_a_query_of_one_word_is_told_against_no_words(run):
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
POINTED = {"text": TEXT, "strokes": STROKES, "links": (Link(2, 5, 0), Link(6, 9, 1))}


def test_with_a_trace_shares_are_of_the_fused_score():
    options = {"dim": 16, "word_dim": 8, "heads": 2, "query_depth": 1, "image_depth": 1}
    run = run_of({"name": "text_trace", "fusion": "word", **options})
    query = Query(**POINTED, trace_weight=0.7)
    found = explain(run, query, Path("a.jpg"))
    (asked,) = ask(run, [query])
    image = run.encode_image([Path("a.jpg")]).parts.vectors[0, 0]
    assert found.score == pytest.approx(float(asked.whole[0] @ image), abs=1e-5)
    assert found.text_score == pytest.approx(float(asked.words[0] @ image), abs=1e-5)
    assert found.score != pytest.approx(found.text_score, abs=1e-4)
    one = Query(TEXT, strokes=STROKES[:1], links=POINTED["links"][:1], trace_weight=0.7)
    (less,) = ask(run, [one])
    assert found.strokes[1] == pytest.approx(found.score - float(less.whole[0] @ image), abs=1e-5)


def test_a_word_taken_away_takes_the_strokes_along_that_only_it_had():
    drawn = Drawn(
        TEXT, STROKES, tuple(TimedWord(w, 0.0, 1.0) for w in TEXT.split()), POINTED["links"]
    )
    less = without_word(drawn, 1)
    assert (less.text, less.strokes, less.links) == ("a  dog", STROKES[1:], (Link(3, 6, 0),))
    assert [word.text for word in less.words] == ["a", "dog"]
    phrase = Drawn(TEXT, STROKES, links=(Link(0, 9, 0), Link(6, 9, 1)))
    assert without_word(phrase, 1).links == (Link(0, 6, 0), Link(3, 6, 1))
    assert without_stroke(phrase, 0).links == (Link(6, 9, 0),)


class Brightness(FakeEncoder):
    """Encodes a picture as how bright its quarters are, a text as which quarter it names."""

    reads_traces = False

    def encode_image(self, files):
        vectors = []
        for file in files:
            with Image.open(file) as picture:
                grey = np.asarray(picture.convert("L").resize((2, 2), Image.Resampling.BOX))
            vectors.append(grey.ravel().astype(np.float32) / 255)
        return Encoded(Parts(np.stack(vectors)[:, None], np.ones((len(files), 1), dtype=bool)), {})

    def encode_text(self, texts):
        names = ("left", "right")
        vectors = [[name in text for name in names] + [False] * 2 for text in texts]
        return Parts(np.array(vectors, dtype=np.float32)[:, None], np.ones((len(texts), 1), bool))

    def score(self, texts, images):
        return texts.vectors[:, 0] @ images.vectors[:, 0].T


def test_a_model_of_whole_pictures_is_asked_with_places_covered(tmp_path):
    """The top left is white and the rest black: covering it must be what the word loses."""
    picture = Image.new("RGB", (400, 300))
    picture.paste("white", (0, 0, 200, 150))
    picture.save(tmp_path / "a.png")
    found = explain(Brightness(), Query(text="the left"), tmp_path / "a.png")
    assert found.by == "covering"
    assert found.score == pytest.approx(1.0, abs=1e-3)
    assert found.words.tolist() == pytest.approx([0, 1], abs=1e-3)
    grid = found.places.reshape(CELLS, CELLS)
    assert grid[:2, :2].min() > 0.05
    assert np.abs(grid[3:]).max() < 1e-3
    np.testing.assert_allclose(found.together[1], found.places, atol=1e-6)
    assert np.abs(found.together[0]).max() == 0
    assert len(covered(Brightness(), tmp_path / "a.png").parts) == CELLS**2 + 2
