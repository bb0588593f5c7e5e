import pytest
from PIL import Image
from PIL.ExifTags import GPS, IFD, Base

from deixis.features.store.exif import Shot, shot_of
from deixis.features.store.image_files import PictureBytes

MUNICH = {
    GPS.GPSLatitudeRef: "N",
    GPS.GPSLatitude: (48.0, 8.0, 13.2),
    GPS.GPSLongitudeRef: "E",
    GPS.GPSLongitude: (11.0, 34.0, 30.0),
}


def photograph(path, taken=None, place=None, kind="JPEG"):
    exif = Image.Exif()
    if taken:
        exif.get_ifd(IFD.Exif)[Base.DateTimeOriginal] = taken
    if place:
        exif.get_ifd(IFD.GPSInfo).update(place)
    Image.new("RGB", (32, 24), "green").save(path, kind, exif=exif.tobytes())
    return path


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF", "HEIF"])
def test_date_and_place_are_read(tmp_path, kind):
    path = photograph(tmp_path / "photo", "2024:06:05 14:30:00", MUNICH, kind)
    shot = shot_of(path)
    assert shot.taken == "2024-06-05T14:30:00"
    assert shot.latitude == pytest.approx(48.137) and shot.longitude == pytest.approx(11.575)
    assert shot_of(PictureBytes("photo", path.read_bytes())) == shot


def test_south_and_west_are_negative(tmp_path):
    place = MUNICH | {GPS.GPSLatitudeRef: "S", GPS.GPSLongitudeRef: "W"}
    shot = shot_of(photograph(tmp_path / "photo.jpg", None, place))
    assert shot.latitude == pytest.approx(-48.137) and shot.longitude == pytest.approx(-11.575)


@pytest.mark.parametrize(
    ("taken", "place"),
    [
        (None, None),
        ("0000:00:00 00:00:00", None),
        ("yesterday", MUNICH | {GPS.GPSLatitude: (999.0, 0.0, 0.0)}),
        (None, {GPS.GPSLatitude: (48.0, 8.0, 13.2), GPS.GPSLatitudeRef: "N"}),
    ],
)
def test_notes_that_mean_nothing_are_none(tmp_path, taken, place):
    assert shot_of(photograph(tmp_path / "photo.jpg", taken, place)) == Shot()


def test_a_file_that_is_no_picture_has_none(tmp_path):
    (tmp_path / "photo.jpg").write_bytes(b"not a picture")
    assert shot_of(tmp_path / "photo.jpg") == Shot()
