"""Pictures are encoded in several threads; what is stored does not depend on how many."""

import itertools
import threading

import numpy as np
import pytest

from deixis.errors import RunError
from deixis.search.library import indexing
from deixis.search.library.indexing import ENCODE
from deixis.search.library.library_store import LibraryStore
from fake_encoder import FakeEncoder


class Threaded(FakeEncoder):
    """Encodes in whichever thread it is asked; the first two groups wait for each other."""

    concurrent = True

    def __init__(self):
        super().__init__()
        self._calls, self._two = itertools.count(), threading.Barrier(2)

    def encode_image(self, files):
        if next(self._calls) < 2:
            self._two.wait(timeout=120)
        return super().encode_image(files)


@pytest.fixture
def many(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(3 * ENCODE + 5):
        content = b"bad" if number in (3, 40) else f"picture {number % 30}".encode()
        (folder / f"{number:03}.jpg").write_bytes(content)
    return folder


def test_threads_store_what_one_thread_stores(tmp_path, many, monkeypatch):
    monkeypatch.setattr(indexing, "cores", lambda: 2)
    stored = {}
    for name, encoder in (("one", FakeEncoder()), ("two", Threaded())):
        outcomes = []
        with LibraryStore.open_or_create(tmp_path / name, encoder) as library:
            report = library.add([many], encoder, lambda o, *_, to=outcomes: to.append(o))
            rows = np.array(library.generation.vectors())
            contents = library.generation.manifest.contents()
        stored[name] = (outcomes, report, rows.tobytes(), contents)
        assert report.counts == {"added": 3 * ENCODE + 3, "broken": 2}
        assert report.encoded == 30  # one file per content, however many copies there are
    assert stored["one"] == stored["two"]


def test_what_fails_in_a_thread_ends_the_pass(tmp_path, many):
    class Failing(FakeEncoder):
        def encode_image(self, files):
            raise RunError("the model is gone")

    with LibraryStore.open_or_create(tmp_path / "library", FakeEncoder()) as library:
        with pytest.raises(RunError, match="the model is gone"):
            library.add([many], Failing())
        assert library.generation.manifest.files() == {}
        assert library.add([many], FakeEncoder()).counts["added"] == 3 * ENCODE + 3
