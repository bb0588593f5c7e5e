"""A file's hash is remembered as long as the file is untouched, and never longer."""

import os
from pathlib import Path

import pytest

from deixis.features.store import content_hashes
from deixis.features.store.content_hashes import content_hash
from deixis.files import file_hash


@pytest.fixture
def weights(tmp_path, monkeypatch):
    monkeypatch.setattr(content_hashes, "SETTLED", -1.0)
    path = tmp_path / "weights"
    path.write_bytes(b"first")
    return path


@pytest.fixture
def read(monkeypatch):
    """The files whose bytes were read."""
    found: list[Path] = []
    monkeypatch.setattr(content_hashes, "file_hash", lambda p: (found.append(p), file_hash(p))[1])
    return found


def test_an_untouched_file_is_read_once(weights, read):
    assert content_hash(weights) == content_hash(weights) == file_hash(weights)
    assert read == [weights]


def test_other_bytes_of_the_same_size_and_time_are_read(weights, read):
    before, facts = content_hash(weights), weights.stat()
    weights.write_bytes(b"other")
    os.utime(weights, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert content_hash(weights) == file_hash(weights) != before


def test_a_file_in_place_of_another_is_read(weights, read, tmp_path):
    before = content_hash(weights)
    new = tmp_path / "new"
    new.write_bytes(b"other")
    new.replace(weights)
    assert content_hash(weights) == file_hash(weights) != before


def test_what_is_not_there_says_so(weights):
    weights.unlink()
    with pytest.raises(FileNotFoundError, match="weights"):
        content_hash(weights)


def test_a_cache_that_cannot_be_written_costs_time_only(weights, read, monkeypatch, tmp_path):
    monkeypatch.setenv("DEIXIS_CACHE", str(weights / "below-a-file"))
    assert content_hash(weights) == content_hash(weights) == file_hash(weights)
    assert read == [weights, weights]
