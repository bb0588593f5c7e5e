from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from deixis.errors import DataError
from deixis.features.store import picture_formats
from deixis.features.store.image_files import open_picture, open_square

FAST = {"AVIF": {"speed": 10}, "HEIF": {"quality": 90}}


def colour_at(picture: Image.Image, x: int, y: int) -> str:
    red, green, blue = (int(value) for value in np.asarray(picture)[y, x])
    return "red" if red > green + 60 and red > blue + 60 else "blue" if blue > red + 60 else "other"


def halves(left: str = "red", right: str = "blue") -> Image.Image:
    picture = Image.new("RGB", (64, 48), left)
    picture.paste(right, (32, 0, 64, 48))
    return picture


@pytest.mark.parametrize(("suffix", "kind"), [("avif", "AVIF"), ("heic", "HEIF")])
def test_what_telephones_make_is_read(tmp_path, suffix, kind):
    assert kind in picture_formats.formats()
    path = tmp_path / f"picture.{suffix}"
    halves().save(path, kind, **FAST[kind])
    picture = open_picture(path, 16)
    assert picture.size == (64, 48) and picture.mode == "RGB"
    assert (colour_at(picture, 8, 24), colour_at(picture, 56, 24)) == ("red", "blue")


@pytest.mark.parametrize(("suffix", "kind"), [("gif", "GIF"), ("webp", "WEBP"), ("png", "PNG")])
def test_of_a_moving_picture_the_first_frame_is_seen(tmp_path, suffix, kind):
    path = tmp_path / f"moving.{suffix}"
    frames = [halves("red", "red"), halves("blue", "blue"), halves("blue", "red")]
    frames[0].save(path, kind, save_all=True, append_images=frames[1:], duration=40)
    with Image.open(path) as file:
        assert file.n_frames == 3
    assert open_square(path, 8)[4, 4].argmax() == 0


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF", "HEIF"])
def test_a_turned_camera_gives_an_upright_picture(tmp_path, kind):
    path = tmp_path / f"turned.{kind.lower()}"
    exif = Image.Exif()
    exif[274] = 6  # the camera was turned: show it rotated by 90 degrees
    halves().save(path, kind, exif=exif.tobytes(), **FAST.get(kind, {}))
    picture = open_picture(path, 48)
    assert picture.size == (48, 64)
    assert (colour_at(picture, 24, 8), colour_at(picture, 24, 56)) == ("red", "blue")


def test_without_its_package_a_heic_picture_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "picture.heic"
    path.write_bytes(b"\0\0\0\x18ftypheic" + b"\0" * 40)
    monkeypatch.setattr(picture_formats, "formats", lambda: picture_formats.DECODERS)
    monkeypatch.setattr("deixis.features.store.image_files.formats", picture_formats.formats)
    with pytest.raises(DataError, match=r"pip install 'deixis\[heic\]'"):
        open_picture(path, 16)


def test_a_damaged_heic_picture_is_refused_with_its_name(tmp_path):
    path = Path(tmp_path / "broken.heic")
    halves().save(path, "HEIF")
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match="broken.heic"):
        open_picture(path, 16)
