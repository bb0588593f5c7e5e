import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from fake_encoder import FakeEncoder

from deixis.errors import SearchError
from deixis.search import verbs
from deixis.search.library import Library
from deixis.search.parts import Encoded, Parts
from deixis.search.query import Query
from deixis.search.searcher import Searcher


@pytest.fixture
def library(tmp_path, pictures, encoder):
    with Library.open_or_create(tmp_path / "library", encoder) as library:
        library.add([pictures], encoder)
        yield library


def test_a_text_ranks_every_picture_by_inner_product(library, pictures, encoder):
    results = Searcher(encoder, library).search(Query(text="a red ball"))
    asked = encoder.vector(b"a red ball")
    expected = {
        str(path): float(encoder.vector(path.read_bytes()) @ asked)
        for path in (*pictures.glob("*.jpg"), *pictures.glob("*/*.PNG"))
    }
    ranked = sorted(expected, key=lambda path: -expected[path])
    assert [hit.paths for hit in results.hits] == [(path,) for path in ranked]
    np.testing.assert_allclose(
        [hit.score for hit in results.hits], [expected[path] for path in ranked], rtol=1e-5
    )
    assert results.searched == 5


def test_a_picture_finds_itself_first_with_all_its_copies(library, pictures, encoder):
    (pictures / "copy.jpg").write_bytes(b"picture b")
    library.add([pictures], encoder)
    results = Searcher(encoder, library).search(Query(image=pictures / "b.jpg", k=1))
    assert len(results.hits) == 1
    assert results.hits[0].paths == (str(pictures / "b.jpg"), str(pictures / "copy.jpg"))
    assert results.hits[0].score == pytest.approx(1.0)


def test_removed_pictures_are_not_found(library, pictures, encoder):
    searcher = Searcher(encoder, library)
    (pictures / "b.jpg").unlink()
    library.add([pictures], encoder)
    for found in (searcher, Searcher(encoder, library)):
        hits = found.search(Query(text="anything")).hits
        assert len(hits) == 4
        assert str(pictures / "b.jpg") not in {path for hit in hits for path in hit.paths}


def test_results_become_json(library, pictures, encoder):
    results = Searcher(encoder, library).search(Query(image=pictures / "a.jpg", k=2))
    plain = json.loads(json.dumps(results.to_dict()))
    assert plain["query"] == {"text": None, "image": str(pictures / "a.jpg"), "k": 2}
    assert plain["hits"][0]["paths"] == [str(pictures / "a.jpg")]
    assert verbs.exit_code(results) == verbs.DONE


def test_an_empty_library_answers_with_nothing(tmp_path, encoder):
    with Library.open_or_create(tmp_path / "empty", encoder) as library:
        results = Searcher(encoder, library).search(Query(text="anything"))
    assert (results.hits, results.searched) == ((), 0)
    assert verbs.exit_code(results) == verbs.LOOK


def test_another_model_may_not_search(library):
    with pytest.raises(SearchError, match="their scores cannot be compared"):
        Searcher(FakeEncoder(identity="b" * 32), library)


def test_a_broken_picture_cannot_be_searched_by(library, tmp_path, encoder):
    (tmp_path / "x.jpg").write_bytes(b"bad bytes")
    with pytest.raises(SearchError, match=r"x\.jpg' cannot be searched by: no picture"):
        Searcher(encoder, library).search(Query(image=tmp_path / "x.jpg"))


@pytest.mark.parametrize("wrong", [{}, {"text": " "}, {"text": "a", "k": 0}])
def test_a_query_without_sense_is_refused(wrong):
    with pytest.raises(SearchError):
        Query(**wrong)


def test_sets_are_stored_whole_and_ranked_by_the_models_own_score(tmp_path, pictures):
    class Sets(FakeEncoder):
        exact = False

        def encode_image(self, files):
            parts = super().encode_image(files).parts
            vectors = np.concatenate([parts.vectors, -parts.vectors, parts.vectors * 2], axis=1)
            mask = np.ones(vectors.shape[:2], dtype=bool)
            mask[0, 2] = False
            return Encoded(Parts(vectors, mask), {})

        def score(self, texts, images):
            products = np.einsum("tpd,iqd->tipq", texts.vectors, images.vectors)
            return np.where(images.mask[None, :, None], products, 0).sum((2, 3))

    with Library.open_or_create(tmp_path / "sets", Sets()) as library:
        library.add([pictures], Sets())
        counts = [content.parts for content in library.generation.manifest.live()]
        assert sorted(counts) == [2, 3, 3, 3, 3]
        assert library.generation.vectors().shape == (14, 8)
        hits = Searcher(Sets(), library).search(Query(text="a query")).hits
    asked = Sets().vector(b"a query")
    weights = {str(pictures / "a.jpg"): 0.0}  # its third part is absent, so the first two cancel
    for hit in hits:
        own = Sets().vector(Path(hit.paths[0]).read_bytes())
        expected = weights.get(hit.paths[0], 2.0) * float(own @ asked)
        assert hit.score == pytest.approx(expected, abs=1e-5)


def test_the_verbs_index_and_search_with_the_run_the_library_remembers(
    tmp_path, pictures, monkeypatch
):
    """The matcher here is simulated: only the way through the adapter is under test."""
    torch = pytest.importorskip("torch")
    from deixis.types import Embedding

    class SimulatedMatcher(FakeEncoder):
        model = SimpleNamespace(similarity=SimpleNamespace(exact=True))

        def encode_image(self, files):
            for file in files:
                if file.read_bytes().startswith(b"bad"):
                    raise OSError(f"{file}: cannot identify image file")
            return self._embedding(super().encode_image(files).parts)

        def encode_text(self, texts):
            return self._embedding(super().encode_text(texts))

        def _embedding(self, parts):
            return Embedding(torch.from_numpy(parts.vectors), torch.from_numpy(parts.mask))

    loaded = []
    module = ModuleType("deixis.methods.matcher")
    module.load = lambda run: loaded.append(run) or SimulatedMatcher()
    monkeypatch.setitem(sys.modules, "deixis.methods.matcher", module)
    (pictures / "c.jpg").write_bytes(b"bad bytes")
    report = verbs.index([pictures], tmp_path / "library", tmp_path / "run")
    assert report.counts == {"added": 4, "broken": 1}
    assert report.broken[0].reason == "cannot identify image file"
    assert verbs.exit_code(report) == verbs.DONE
    results = verbs.search(Query(image=pictures / "d.jpg"), tmp_path / "library")
    assert results.hits[0].paths == (str(pictures / "d.jpg"),)
    assert loaded == [tmp_path / "run", tmp_path / "run"]
