"""A pipe that takes a file's place after it was seen is refused; nobody waits for its writer."""

import os
import threading

import pytest

from deixis.errors import DataError
from deixis.features.store.exif import Shot, shot_of
from deixis.features.store.image_files import open_square
from deixis.files import open_regular
from deixis.search.library.pictures.folder_scan import content_hash


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "a.jpg")
    return tmp_path / "a.jpg"


def end_of(work, pipe):
    """What a piece of work gives or raises; in a thread of its own, as it may wait forever."""
    found = []

    def run():
        try:
            found.append(work(pipe))
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert found, "it waits for a writer"
    return found[0]


@pytest.mark.parametrize("reader", [open_regular, content_hash])
def test_it_is_refused_with_the_reason(pipe, reader):
    error = end_of(reader, str(pipe))
    assert isinstance(error, OSError)
    assert error.strerror == "not a regular file"


def test_it_is_no_picture(pipe):
    error = end_of(lambda path: open_square(path, 8), pipe)
    assert isinstance(error, DataError)
    assert "a.jpg: there is no such file" in str(error)


def test_it_has_no_notes_of_a_camera(pipe):
    assert end_of(shot_of, pipe) == Shot()
