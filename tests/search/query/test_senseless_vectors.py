"""Senseless queries are encoded once per model."""

import numpy as np
import pytest

from deixis.search.query.calibration import SENSELESS
from deixis.search.query.senseless_vectors import senseless_vectors
from fake_encoder import FakeEncoder


class Counting(FakeEncoder):
    """Counts the texts it encodes."""

    def __init__(self, identity="a" * 32):
        super().__init__(identity)
        self.texts = 0

    def encode_text(self, texts):
        self.texts += len(texts)
        return super().encode_text(texts)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_second_search_reads_them_from_the_cache():
    first, again = Counting(), Counting()
    made, kept = senseless_vectors(first), senseless_vectors(again)
    assert (first.texts, again.texts) == (len(SENSELESS), 0)
    assert len(kept) == len(SENSELESS)
    assert all(np.array_equal(one, other) for one, other in zip(made, kept, strict=True))


def test_another_model_has_its_own():
    senseless_vectors(Counting())
    other = Counting("b" * 32)
    found = senseless_vectors(other)
    assert other.texts == len(SENSELESS)
    assert np.array_equal(found[0][0], other.vector(SENSELESS[0].encode()))


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut"])
def test_a_damaged_cache_is_made_again(cache, content):
    senseless_vectors(Counting())
    (file,) = (cache / "senseless").iterdir()
    file.write_bytes(content)
    again = Counting()
    assert len(senseless_vectors(again)) == again.texts == len(SENSELESS)


def test_a_cache_that_cannot_be_written_costs_time_only(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "file"))
    assert len(senseless_vectors(Counting())) == len(SENSELESS)


def test_vectors_that_do_not_fit_the_model_are_made_again():
    class Wider(Counting):
        """Another model under the same identity."""

        def __init__(self):
            super().__init__()
            self.dim = 9

    senseless_vectors(Counting())
    other = Wider()
    assert {one.shape for one in senseless_vectors(other)} == {(1, 9)}
    assert other.texts == len(SENSELESS)
