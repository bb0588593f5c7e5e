import numpy as np
import pytest
from typer.testing import CliRunner

import deixis
from deixis.cli.command import app, load_verbs
from deixis.errors import FeatureError, RecipeError
from deixis.methods.zero_shot import ZeroShot
from deixis.runs.adopt_pretrained import adopt_pretrained
from deixis.search.library.library import Library
from deixis.search.query.query import Query
from deixis.types import Sizes
from made import made_pictures
from tiny_towers import tiny_bert, tiny_clip, tiny_siglip, tiny_vit

TEXTS = ["a red dog", "the boat runs on the sea", "a dog"]


@pytest.fixture
def pictures(tmp_path):
    return made_pictures(tmp_path / "pictures", 4)


@pytest.mark.parametrize("make", [tiny_clip, tiny_siglip])
def test_a_pretrained_pair_indexes_and_searches_as_it_is(tmp_path, pictures, make):
    tower = f"hf:{make(tmp_path / 'tower')}"
    load_verbs()
    run, library = tmp_path / "run", tmp_path / "library"
    assert CliRunner().invoke(app, ["adopt", tower, str(run)]).exit_code == 0
    matcher = deixis.load(run)
    files = sorted(pictures.iterdir())
    scores = matcher.similarity(matcher.encode_image(files), matcher.encode_text(TEXTS))
    backbone = matcher._image_backbone
    seen = backbone([backbone.read(file) for file in files]).pooled
    read = matcher._text_backbone(TEXTS).pooled
    seen, read = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (seen, read))
    assert np.allclose(scores.numpy(), seen @ read.T, atol=1e-5)
    Library(library, run).add(pictures)
    for place, text in enumerate(TEXTS):
        hits = Library(library).search(Query(text=text, k=4)).hits
        order = [files[i].name for i in scores[:, place].argsort(descending=True)]
        assert [hit.paths[0].rsplit("/", 1)[1] for hit in hits] == order


def test_towers_that_share_no_space_are_refused(tmp_path):
    with pytest.raises(RecipeError, match="a pair in one space; the image's vector has 16"):
        ZeroShot().model(Sizes(image=16, text=10))
    with pytest.raises(FeatureError, match="has no tokenizer|reads no texts"):
        adopt_pretrained(f"hf:{tiny_vit(tmp_path / 'tower')}", tmp_path / "run")
    with pytest.raises(FeatureError, match="sees no pictures: it is a BertModel"):
        adopt_pretrained(f"hf:{tiny_bert(tmp_path / 'bert')}", tmp_path / "run")
