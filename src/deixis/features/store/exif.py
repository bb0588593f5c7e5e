"""When and where a photograph was taken, as the camera wrote it into the file (EXIF)."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from PIL import Image
from PIL.ExifTags import GPS, IFD, Base

from deixis.features.store.image_files import PictureBytes, opened
from deixis.features.store.picture_formats import formats


@dataclass(frozen=True, slots=True)
class Shot:
    """Local time as ``2024-06-05T14:30:00``, and degrees north and east; None where not written."""

    taken: str | None = None
    latitude: float | None = None
    longitude: float | None = None


def shot_of(path: Path | PictureBytes) -> Shot:
    """Read the camera's notes; a file without any, or with broken ones, has none."""
    try:
        with opened(path) as content, Image.open(content, formats=formats()) as file:
            exif = file.getexif()
        details, place = exif.get_ifd(IFD.Exif), exif.get_ifd(IFD.GPSInfo)
    except Exception:  # decoders raise nearly anything on damaged notes
        return Shot()
    taken = _time(details.get(Base.DateTimeOriginal) or details.get(Base.DateTimeDigitized))
    latitude = _degrees(place.get(GPS.GPSLatitude), place.get(GPS.GPSLatitudeRef), "S", 90.0)
    longitude = _degrees(place.get(GPS.GPSLongitude), place.get(GPS.GPSLongitudeRef), "W", 180.0)
    if latitude is None or longitude is None:
        return Shot(taken)
    return Shot(taken, latitude, longitude)


def _time(value: object) -> str | None:
    """EXIF's own form of a time, in the one that sorts.

    >>> _time("2024:06:05 14:30:00"), _time("0000:00:00 00:00:00")
    ('2024-06-05T14:30:00', None)
    """
    try:
        return datetime.strptime(str(value).strip("\0 "), "%Y:%m:%d %H:%M:%S").isoformat()
    except ValueError:
        return None


def _degrees(value: object, side: object, negative: str, most: float) -> float | None:
    """Degrees, minutes and seconds as one number.

    >>> _degrees((48.0, 8.0, 24.0), "N", "S", 90.0), _degrees((1.0, 0.0, 0.0), "S", "S", 90.0)
    (48.14, -1.0)
    """
    try:
        degrees, minutes, seconds = (float(part) for part in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    found = degrees + minutes / 60 + seconds / 3600
    if not found <= most:  # not a number either
        return None
    return -found if str(side).strip("\0 ").upper() == negative else found
