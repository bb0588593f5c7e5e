import numpy as np
import pytest

from deixis.errors import RunError
from deixis.runs.text_bank import Bank
from deixis.search.encoders.hubness_encoder import HubnessEncoder
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher
from fake_encoder import FakeEncoder

DIM = 8


@pytest.fixture
def bank(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(50, DIM)).astype(np.float32)
    Bank(vectors, nearest=3, weight=0.5).write(tmp_path / "bank.safetensors")
    return Bank.read(tmp_path / "bank.safetensors"), vectors


def test_a_bank_keeps_its_texts_to_half_a_step(bank):
    read, vectors = bank
    step = np.abs(vectors).max(axis=1, keepdims=True) / 127
    assert (np.abs(read.texts - vectors) <= 0.5001 * step).all()
    assert (read.nearest, read.weight) == (3, 0.5)


def test_popularity_is_the_mean_of_the_best_scores(bank):
    read, _ = bank
    images = np.random.default_rng(1).normal(size=(300, DIM)).astype(np.float32)
    scores = np.sort(images @ read.texts.T, axis=1)[:, -3:]
    np.testing.assert_allclose(read.popularity(images), 0.5 * scores.mean(axis=1), rtol=1e-5)


def test_a_picture_loses_its_popularity_to_words_and_nothing_to_pictures(bank, tmp_path, pictures):
    plain, read = FakeEncoder(), bank[0]
    banked = HubnessEncoder(FakeEncoder(), read)
    with LibraryStore.open_or_create(tmp_path / "library", banked) as library:
        library.add([pictures], banked)
        searcher = Searcher(banked, library)
        by_words = searcher.search(Query(text="a dog")).hits
        by_picture = searcher.search(Query(image=pictures / "b.jpg")).hits
    for hits, asked in ((by_words, b"a dog"), (by_picture, b"picture b")):
        for hit in hits:
            with open(hit.paths[0], "rb") as file:
                vector = plain.vector(file.read())
            popular = read.popularity(vector[None])[0] if asked == b"a dog" else 0
            assert hit.score == pytest.approx(
                float(vector @ plain.vector(asked)) - popular, abs=1e-5
            )
    assert by_picture[0].paths == (str(pictures / "b.jpg"),)


def test_another_bank_is_another_model(bank, tmp_path):
    Bank(bank[1][:40], nearest=3, weight=0.5).write(tmp_path / "other")
    first, other = (
        HubnessEncoder(FakeEncoder(), bank[0]),
        HubnessEncoder(FakeEncoder(), Bank.read(tmp_path / "other")),
    )
    assert first.identity != other.identity != FakeEncoder().identity


def test_what_cannot_be_corrected_is_refused(bank, tmp_path):
    sets = FakeEncoder()
    sets.exact = False
    with pytest.raises(RunError, match="no inner products"):
        HubnessEncoder(sets, bank[0])
    (tmp_path / "broken").write_bytes(b"no bank")
    with pytest.raises(RunError, match="is not a bank of texts"):
        Bank.read(tmp_path / "broken")
