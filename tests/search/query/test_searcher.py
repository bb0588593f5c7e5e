import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from deixis.errors import SearchError
from deixis.features.store.image_files import SharedPicture
from deixis.search.encoders.embedded_parts import EmbeddedParts, EncodedFiles
from deixis.search.library.library import Library
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher
from fake_encoder import FakeEncoder


@pytest.fixture
def library(tmp_path, pictures, encoder):
    with LibraryStore.open_or_create(tmp_path / "library", encoder) as library:
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
    assert not results.needs_attention


def test_an_empty_library_answers_with_nothing(tmp_path, encoder):
    with LibraryStore.open_or_create(tmp_path / "empty", encoder) as library:
        results = Searcher(encoder, library).search(Query(text="anything"))
    assert (results.hits, results.searched) == ((), 0)
    assert results.needs_attention


def test_another_model_may_not_search(library):
    with pytest.raises(SearchError, match="their scores cannot be compared"):
        Searcher(FakeEncoder(identity="b" * 32), library)


def test_a_broken_picture_cannot_be_searched_by(library, tmp_path, encoder):
    (tmp_path / "x.jpg").write_bytes(b"bad bytes")
    with pytest.raises(SearchError, match=r"cannot search by '.*x\.jpg': no picture"):
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
            return EncodedFiles(EmbeddedParts(vectors, mask), {})

        def score(self, texts, images):
            products = np.einsum("tpd,iqd->tipq", texts.vectors, images.vectors)
            return np.where(images.mask[None, :, None], products, 0).sum((2, 3))

    with LibraryStore.open_or_create(tmp_path / "sets", Sets()) as library:
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
                source = file.source if isinstance(file, SharedPicture) else file
                if source.read_bytes().startswith(b"bad"):
                    raise OSError(f"{file}: cannot identify image file")
            return self._embedding(super().encode_image(files).parts)

        def encode_text(self, texts):
            return self._embedding(super().encode_text(texts))

        def _embedding(self, parts):
            return Embedding(torch.from_numpy(parts.vectors), torch.from_numpy(parts.mask))

    loaded = []
    module = ModuleType("deixis.runs.matcher")
    module.load = lambda run: loaded.append(run) or SimulatedMatcher()
    monkeypatch.setitem(sys.modules, "deixis.runs.matcher", module)
    (pictures / "c.jpg").write_bytes(b"bad bytes")
    report = Library(tmp_path / "library", tmp_path / "run").add(pictures)
    assert report.counts == {"added": 4, "broken": 1}
    assert report.broken[0].reason == "cannot identify image file"
    assert not report.needs_attention
    results = Library(tmp_path / "library").search(Query(image=pictures / "d.jpg"))
    assert results.hits[0].paths == (str(pictures / "d.jpg"),)
    assert loaded == [tmp_path / "run", tmp_path / "run"]


class AddingEncoder(FakeEncoder):
    """Has one vector per word; a text's score is the sum over its words."""

    exact = False

    def __init__(self):
        super().__init__(identity="adding" + "a" * 26)

    def encode_text(self, texts):
        words = [text.split() for text in texts]
        vectors = np.zeros((len(texts), max(map(len, words)), self.dim), np.float32)
        mask = np.zeros(vectors.shape[:2], dtype=bool)
        for item, own in enumerate(words):
            mask[item, : len(own)] = True
            for place, word in enumerate(own):
                # A known word is longer, and fits pictures whose first number is high.
                known = 30.0 if word in ("red", "flower") else 0.1
                vectors[item, place] = known * np.eye(self.dim, dtype=np.float32)[0]
        return EmbeddedParts(vectors, mask)

    def score(self, texts, images):
        kept = texts.vectors * texts.mask[..., None]
        return kept.sum(axis=1) @ images.vectors[:, 0].T


@pytest.mark.parametrize(
    "text", ["flower", "a red flower", "so there is a flower here and red too"]
)
def test_sums_over_words_are_judged_per_word_however_long_a_text_is(tmp_path, text):
    (tmp_path / "many").mkdir()
    for number in range(40):
        (tmp_path / "many" / f"{number}.jpg").write_text(str(number))
    encoder = AddingEncoder()
    with LibraryStore.open_or_create(tmp_path / "library", encoder) as library:
        library.add([tmp_path / "many"], encoder)
        searcher = Searcher(encoder, library)
        assert searcher.search(Query(text=text)).hits[0].band == "confident"
        for nothing in ("plim", "plim plam pollo gorp fenwick dralla nuvvit srekk"):
            assert searcher.search(Query(text=nothing)).hits[0].band == "rest"


def test_where_nothing_can_be_found_a_note_says_why(library, encoder, tmp_path):
    nowhere = Query.of("a dog", where="path:nowhere")
    (note,) = Searcher(encoder, library).search(nowhere).notes
    assert note.text == "no picture passes the filter"
    with LibraryStore.open_or_create(tmp_path / "empty", encoder) as empty:
        (note,) = Searcher(encoder, empty).search(Query(text="a dog")).notes
    assert note.text == "the library has no pictures yet"
