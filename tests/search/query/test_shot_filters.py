"""Filters by when and where a photograph was taken, through a whole library."""

import pytest
from PIL import Image
from PIL.ExifTags import GPS, IFD, Base

from deixis.errors import FilterError
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.filters import parse_filter
from fake_encoder import FakeEncoder

PLACES = {"munich": (48.137, 11.575), "berlin": (52.52, 13.405), "sydney": (-33.87, 151.21)}
SHOTS = {
    "spring.jpg": ("2024:05:31 23:59:59", "munich"),
    "june.jpg": ("2024:06:01 00:00:00", "munich"),
    "august.jpg": ("2024:08:31 23:59:59", "berlin"),
    "autumn.jpg": ("2024:09:01 00:00:00", "sydney"),
    "plain.jpg": (None, None),
}


def sexagesimal(value):
    degrees = abs(value)
    minutes = degrees % 1 * 60
    return float(int(degrees)), float(int(minutes)), minutes % 1 * 60


def save(path, number):
    taken, place = SHOTS[path.name]
    exif = Image.Exif()
    if taken:
        exif.get_ifd(IFD.Exif)[Base.DateTimeOriginal] = taken
        north, east = PLACES[place]
        exif.get_ifd(IFD.GPSInfo).update(
            {
                GPS.GPSLatitudeRef: "N" if north >= 0 else "S",
                GPS.GPSLatitude: sexagesimal(north),
                GPS.GPSLongitudeRef: "E" if east >= 0 else "W",
                GPS.GPSLongitude: sexagesimal(east),
            }
        )
    Image.new("RGB", (8 + number, 8), "white").save(path, exif=exif.tobytes())


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shots")
    (folder / "pictures").mkdir()
    for number, name in enumerate(SHOTS):
        save(folder / "pictures" / name, number)
    with LibraryStore.open_or_create(folder / "library", FakeEncoder()) as opened:
        opened.add([folder / "pictures"], FakeEncoder())
        yield opened


def passing(store, said):
    manifest = store.generation.manifest
    rows = manifest.facts.passing(parse_filter(said)).tolist()
    found = manifest.items_at(rows).values()
    return {path.rsplit("/", 1)[1].removesuffix(".jpg") for _, paths in found for path in paths}


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("taken:2024-06..2024-08", {"june", "august"}),
        ("taken:2024", {"spring", "june", "august", "autumn"}),
        ("taken:2024-05-31", {"spring"}),
        ("taken:2024-09..2025", {"autumn"}),
        ("taken:2023", set()),
        ("near:48.1,11.6,5km", {"spring", "june"}),
        ("near:48.1,11.6,600km", {"spring", "june", "august"}),
        ("near:-33.8,151.2,10km", {"autumn"}),
        ("NOT taken:2024", {"plain"}),
        ("near:48.1,11.6,5km taken:2024-06", {"june"}),
    ],
)
def test_photographs_are_found_by_date_and_place(store, said, names):
    assert passing(store, said) == names


@pytest.mark.parametrize(
    "said",
    ["taken:june", "taken:2024-13", "taken:2024-02-31", "taken:9999..2024-1", "taken:9999-12-31"]
    + ["near:48.1,11.6", "near:91,0,5km", "near:0,181,5km", "near:a,b,5km", "near:1,2,5miles"],
)
def test_what_is_no_date_or_place_is_refused(said):
    with pytest.raises(FilterError, match="cannot be read"):
        parse_filter(said)


def test_a_library_made_before_dates_were_kept_learns_them(store, tmp_path):
    with LibraryStore.open_or_create(tmp_path / "library", FakeEncoder()) as older:
        (tmp_path / "pictures").mkdir()
        save(tmp_path / "pictures" / "june.jpg", 0)
        older.add([tmp_path / "pictures"], FakeEncoder())
        with older.generation.manifest.writing():
            older.generation.manifest._db.execute("DELETE FROM shot")
        assert passing(older, "taken:2024") == set()
        assert older.add([tmp_path / "pictures"], FakeEncoder()).counts == {"unchanged": 1}
        assert passing(older, "taken:2024") == {"june"}
