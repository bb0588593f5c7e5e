"""A pretrained pair of the transformers library is a model by its name alone."""

import json

import numpy as np
import pytest

from deixis.runs.adopt_pretrained import adopt_pretrained
from deixis.runs.matcher import load
from deixis.search.encoders.load_encoder import load_encoder
from deixis.search.library.library import Library
from deixis.search.query.query import Query
from made import made_pictures
from tiny_towers import tiny_clip


@pytest.fixture
def pictures(tmp_path):
    return made_pictures(tmp_path / "pictures", 5)


def test_a_tower_is_adopted_once_and_found_again_from_any_folder(tmp_path, pictures, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))
    tower, library = tiny_clip(tmp_path / "clip"), tmp_path / "library"
    monkeypatch.chdir(tmp_path)
    assert Library(library, "hf:clip").add(pictures).counts == {"added": 5}
    header = json.loads((library / "generation-1" / "header.json").read_text())
    assert header["source"] == f"hf:{tower}"
    monkeypatch.chdir(pictures)
    hits = Library(library).search(Query(text="a red boat", k=5)).hits
    adopt_pretrained(f"hf:{tower}", tmp_path / "run")
    matcher = load(tmp_path / "run")
    files = [hit.paths[0] for hit in hits]
    scores = matcher.similarity(matcher.encode_image(files), matcher.encode_text(["a red boat"]))
    np.testing.assert_allclose([hit.score for hit in hits], scores[:, 0], atol=1e-5)
    assert load_encoder(f"hf:{tower}").identity == matcher.identity
    assert sum(path.is_dir() for path in (tmp_path / "cache" / "adopted").iterdir()) == 1
    # Without a model named, a library goes on with its own.
    assert Library(library).add(pictures).counts == {"unchanged": 5}
