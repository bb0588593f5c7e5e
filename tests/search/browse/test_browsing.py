"""The order in which a library is looked through: by when a photograph was taken, else written."""

import os
import sqlite3
from datetime import datetime

import pytest
from PIL import Image
from PIL.ExifTags import IFD, Base

from deixis.search.browse.browsing import Browsing
from deixis.search.library.library_store import LibraryStore
from fake_encoder import FakeEncoder

# When each photograph was taken, and when its file was written.
PICTURES = {
    "old-but-copied.jpg": ("2019:07:14 10:00:00", "2024-03-02"),
    "snow.jpg": ("2024:01:31 23:59:59", "2024-03-01"),
    "drawn.jpg": (None, "2024-02-01"),
    "undated.jpg": ("0000:00:00 00:00:00", "2024-02-29"),
}


def save(path, number):
    taken, written = PICTURES[path.name]
    exif = Image.Exif()
    if taken:
        exif.get_ifd(IFD.Exif)[Base.DateTimeOriginal] = taken
    Image.new("RGB", (8 + number, 8), "white").save(path, exif=exif.tobytes())
    moment = datetime.fromisoformat(written).timestamp()
    os.utime(path, (moment, moment))


@pytest.fixture
def store(tmp_path):
    (tmp_path / "pictures").mkdir()
    for number, name in enumerate(PICTURES):
        save(tmp_path / "pictures" / name, number)
    with LibraryStore.open_or_create(tmp_path / "library", FakeEncoder()) as opened:
        opened.add([tmp_path / "pictures"], FakeEncoder())
        yield opened


def browsed(store):
    browsing = store.generation.manifest.browsing
    pictures = browsing.pictures("newest", 0, 60, None)
    headings = {one.name: one.count for one in browsing.headings("newest", None)}
    return [(os.path.basename(one.path), one.heading) for one in pictures], headings


def test_a_photograph_stands_under_the_month_it_was_taken_in(store):
    pictures, headings = browsed(store)
    assert pictures == [
        ("undated.jpg", "2024-02"),
        ("drawn.jpg", "2024-02"),
        ("snow.jpg", "2024-01"),
        ("old-but-copied.jpg", "2019-07"),
    ]
    assert list(headings.items()) == [("2024-02", 2), ("2024-01", 1), ("2019-07", 1)]


def test_a_library_that_kept_no_dates_and_is_only_read_goes_by_its_files(store, tmp_path):
    store.generation.manifest._db.execute("DROP TABLE shot")
    store.close()
    manifest = next((tmp_path / "library").glob("generation-*/manifest.sqlite"))
    db = sqlite3.connect(f"file:{manifest}?mode=ro", uri=True)
    found = [one.heading for one in Browsing(db).pictures("newest", 0, 60, None)]
    db.close()
    assert found == ["2024-03", "2024-03", "2024-02", "2024-02"]
