import numpy as np
import pytest
from PIL import Image

from deixis.errors import DataError
from deixis.features.store import image_files
from deixis.features.store.image_files import (
    PictureBytes,
    SharedPicture,
    mirror_image,
    open_picture,
    open_square,
)
from deixis.search.library.pictures.fingerprint import fingerprint_of


def halves(left, right, mode="RGB", size=(64, 48)):
    picture = Image.new(mode, size, left)
    picture.paste(right, (size[0] // 2, 0, *size))
    return picture


def colours(path, side=32):
    pixels = open_square(path, side).astype(int)
    return pixels[side // 2, 3], pixels[side // 2, -4]


def assert_red_then_blue(path):
    left, right = colours(path)
    assert np.abs(left - [255, 0, 0]).max() < 8
    assert np.abs(right - [0, 0, 255]).max() < 8


@pytest.mark.parametrize("suffix", ["png", "jpg", "bmp", "tif", "webp"])
def test_formats_agree(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    options = {"quality": 95, "subsampling": 0} if suffix == "jpg" else {}
    options = {"lossless": True} if suffix == "webp" else options
    halves("red", "blue").save(path, **options)
    assert_red_then_blue(path)
    assert open_square(path, 32).shape == (32, 32, 3)


def test_exif_orientation_is_applied(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera lay on its side: turn a quarter clockwise to see it upright
    stored = halves("red", "blue").transpose(Image.Transpose.ROTATE_90)
    stored.save(tmp_path / "a.jpg", exif=exif, quality=95, subsampling=0)
    assert_red_then_blue(tmp_path / "a.jpg")
    assert open_picture(tmp_path / "a.jpg", 8).width > open_picture(tmp_path / "a.jpg", 8).height


def test_cmyk_becomes_the_colours_it_prints(tmp_path):
    halves((0, 255, 255, 0), (255, 255, 0, 0), "CMYK").save(tmp_path / "a.jpg", quality=95)
    assert_red_then_blue(tmp_path / "a.jpg")


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_sixteen_bits_are_scaled_not_clipped(tmp_path, suffix):
    grey = np.full((20, 20), 0x8000, dtype=np.uint16)
    Image.fromarray(grey).save(tmp_path / f"a.{suffix}")
    assert np.all(open_square(tmp_path / f"a.{suffix}", 8) == 128)


def test_thirty_two_bits_are_refused(tmp_path):
    Image.fromarray(np.ones((4, 4), dtype=np.float32)).save(tmp_path / "a.tif")
    with pytest.raises(DataError, match=r"a\.tif: 32-bit"):
        open_square(tmp_path / "a.tif", 8)


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_what_is_transparent_is_white(tmp_path, mode):
    clear = (0,) * len(mode)
    Image.new(mode, (10, 10), clear).save(tmp_path / "a.png")
    assert np.all(open_square(tmp_path / "a.png", 8) == 255)


def test_a_transparent_palette_colour_is_white(tmp_path):
    Image.new("P", (10, 10), 0).save(tmp_path / "a.png", transparency=0)
    assert np.all(open_square(tmp_path / "a.png", 8) == 255)


def test_an_animation_is_its_first_frame(tmp_path):
    first, second = Image.new("RGB", (10, 10), "red"), Image.new("RGB", (10, 10), "blue")
    first.save(tmp_path / "a.gif", save_all=True, append_images=[second])
    assert np.all(open_square(tmp_path / "a.gif", 8) == [255, 0, 0])


def test_a_large_jpeg_is_decoded_at_a_fraction_but_never_below_the_wish(tmp_path):
    halves("red", "blue", size=(640, 480)).save(tmp_path / "a.jpg", quality=95)
    assert open_picture(tmp_path / "a.jpg", 56).size == (80, 60)
    assert open_picture(tmp_path / "a.jpg", 300).size == (640, 480)
    assert_red_then_blue(tmp_path / "a.jpg")


def damaged(path):
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("suffix", ["jpg", "png", "bmp", "tif", "webp", "gif"])
def test_a_truncated_picture_is_refused(tmp_path, suffix):
    damaged(tmp_path / f"cut.{suffix}")
    with pytest.raises(DataError, match=rf"cut\.{suffix}: "):
        open_square(tmp_path / f"cut.{suffix}", 8)


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "a.jpg").touch()
    with pytest.raises(DataError, match=r"a\.jpg: the file is empty"):
        open_square(tmp_path / "a.jpg", 8)


def test_a_text_named_jpg_is_refused_with_its_first_bytes(tmp_path):
    (tmp_path / "a.jpg").write_text("not a picture")
    with pytest.raises(DataError, match=r"a\.jpg: not a picture .* b'not a pictur'"):
        open_square(tmp_path / "a.jpg", 8)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"a\.jpg: there is no such file"):
        open_square(tmp_path / "a.jpg", 8)


def test_more_megapixels_than_the_limit_are_refused_before_decoding(tmp_path):
    Image.new("RGB", (200, 100)).save(tmp_path / "a.png")
    with pytest.raises(DataError, match=r"200 x 100 is 0\.0 megapixels; the limit is 0\.01"):
        open_square(tmp_path / "a.png", 8, megapixels=0.01)


def test_what_pillow_takes_for_a_bomb_is_a_data_error(tmp_path):
    Image.new("1", (20_000, 20_000)).save(tmp_path / "bomb.png")
    with pytest.raises(DataError, match=r"bomb\.png: more than 80 megapixels"):
        open_square(tmp_path / "bomb.png", 8)


def test_the_bytes_of_a_file_open_as_the_file_does(tmp_path):
    path = tmp_path / "a.jpg"
    Image.effect_noise((90, 60), 50).convert("RGB").save(path)
    held = PictureBytes("bucket/a.jpg", path.read_bytes())
    assert np.array_equal(open_square(held, 32), open_square(path, 32))
    with pytest.raises(DataError, match=r"bucket/b.jpg: the file is empty"):
        open_square(PictureBytes("bucket/b.jpg", b""), 32)
    with pytest.raises(DataError, match=r"bucket/b.jpg: not a picture .* begins b'text'"):
        open_square(PictureBytes("bucket/b.jpg", b"text"), 32)


@pytest.mark.parametrize("size", [(640, 480), (480, 641), (2100, 1050), (300, 90)])
@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_a_shared_picture_gives_each_reader_the_pixels_of_the_file(tmp_path, size, suffix):
    random = np.random.default_rng(0)
    pixels = random.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(pixels).resize(size).save(path)
    picture = SharedPicture(path)
    for side in (224, 260, 32, 500, 224):
        assert np.array_equal(open_square(picture, side), open_square(path, side)), side
    assert picture.size == size


def test_a_shared_picture_is_decoded_once_for_readers_who_want_it_alike(tmp_path, monkeypatch):
    halves("red", "blue", size=(1200, 1100)).save(tmp_path / "a.jpg")
    decoded, really = [], image_files._decoded
    monkeypatch.setattr(image_files, "_decoded", lambda *a: decoded.append(a) or really(*a))
    picture = SharedPicture(tmp_path / "a.jpg")
    open_square(picture, 224), open_square(picture, 260), fingerprint_of(picture)
    assert len(decoded) == 1
    open_square(picture, 900)
    assert len(decoded) == 2


def test_the_size_of_a_shared_picture_is_that_of_the_upright_one(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    halves("red", "blue").save(tmp_path / "a.jpg", exif=exif)
    picture = SharedPicture(tmp_path / "a.jpg")
    assert open_picture(picture, 8).height > open_picture(picture, 8).width
    assert picture.size == (48, 64)


def test_a_mirror_image_has_left_and_right_exchanged():
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    assert np.array_equal(mirror_image(pixels), pixels[:, ::-1])
    assert mirror_image(pixels).flags.c_contiguous
