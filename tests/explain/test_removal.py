from pathlib import Path

import numpy as np
import pytest
import torch

from deixis.errors import DataError
from deixis.explain.removal import explain
from deixis.features.words import Vocabulary
from deixis.methods import load_all
from deixis.methods.matcher import Matcher, RunConfig
from deixis.methods.model import Sizes, methods
from deixis.types import Regions

TEXT = "a red dog"


class Seen(Matcher):
    """A matcher whose only picture has four made-up regions and one that is padding."""

    def regions(self, files):
        values = torch.randn(1, 5, 8, generator=torch.Generator().manual_seed(0))
        mask = torch.tensor([[True, True, True, True, False]])
        return Regions(values, mask, boxes=torch.rand(1, 5, 5))


@pytest.fixture(params=[{"name": "vse_infinity", "dim": 16}, {"name": "scan", "dim": 16}])
def matcher(request):
    load_all()
    torch.manual_seed(0)
    vocabulary = Vocabulary.count([TEXT])
    sizes = Sizes(region=8, vocabulary=vocabulary.size)
    options = {key: value for key, value in request.param.items() if key != "name"}
    model = methods.build(request.param["name"], options).model(sizes)
    return Seen(model, RunConfig(request.param, sizes, "lite0", "words"), vocabulary)


def score(matcher, text, kept):
    """The score with regions really taken out, not masked."""
    seen = matcher.regions([])
    image = Regions(seen.values[:, kept], seen.mask[:, kept])
    with torch.no_grad():
        found = matcher.similarity(matcher.model.image(image), matcher.encode_text([text]))
    return float(found)


def test_shares_are_what_the_scorer_loses(matcher):
    found = explain(matcher, TEXT, Path("a.jpg"))
    everything = [0, 1, 2, 3]
    full = score(matcher, TEXT, everything)
    assert found.score == pytest.approx(full, abs=1e-5)
    assert found.boxes.shape == (4, 5)
    texts = ["red dog", "a dog", "a red"]
    assert [TEXT[start:end] for start, end in found.spans] == ["a", "red", "dog"]
    for word, without in enumerate(texts):
        no_word = score(matcher, without, everything)
        assert found.words[word] == pytest.approx(full - no_word, abs=1e-5)
        for region in everything:
            kept = [one for one in everything if one != region]
            no_region, neither = score(matcher, TEXT, kept), score(matcher, without, kept)
            assert found.regions[region] == pytest.approx(full - no_region, abs=1e-5)
            expected = full - no_word - no_region + neither
            assert found.together[word, region] == pytest.approx(expected, abs=1e-5)
    assert found.drop == pytest.approx(max(found.regions.max(), 0.0))
    assert np.abs(found.together).max() > 1e-4


def test_a_text_of_too_many_words_is_refused(matcher):
    with pytest.raises(DataError, match="the text has 49 words"):
        explain(matcher, "dog " * 49, Path("a.jpg"))
