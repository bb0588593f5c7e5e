"""A pretrained pair of the transformers library is a model by its name alone."""

import json

import numpy as np
import pytest

from deixis.methods.matcher import load
from deixis.methods.zero_shot import adopt
from deixis.search import verbs
from deixis.search.opening import open_run
from deixis.search.query import Query
from made import made_pictures
from tiny_towers import tiny_clip


@pytest.fixture
def pictures(tmp_path):
    return made_pictures(tmp_path / "pictures", 5)


def test_a_tower_is_adopted_once_and_found_again_from_any_folder(tmp_path, pictures, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))
    tower, library = tiny_clip(tmp_path / "clip"), tmp_path / "library"
    monkeypatch.chdir(tmp_path)
    assert verbs.index([pictures], library, "hf:clip").counts == {"added": 5}
    header = json.loads((library / "generation-1" / "header.json").read_text())
    assert header["source"] == f"hf:{tower}"
    monkeypatch.chdir(pictures)
    hits = verbs.search(Query(text="a red boat", k=5), library).hits
    adopt(f"hf:{tower}", tmp_path / "run")
    matcher = load(tmp_path / "run")
    files = [hit.paths[0] for hit in hits]
    scores = matcher.similarity(matcher.encode_image(files), matcher.encode_text(["a red boat"]))
    np.testing.assert_allclose([hit.score for hit in hits], scores[:, 0], atol=1e-5)
    assert open_run(f"hf:{tower}").identity == matcher.identity
    assert len(list((tmp_path / "cache" / "adopted").iterdir())) == 1
    # Without a model named, a library goes on with its own.
    assert verbs.index([pictures], library).counts == {"unchanged": 5}
