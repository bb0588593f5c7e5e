"""Picture files opened upright and within limits, or refused with the reason."""

from dataclasses import dataclass
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray
from PIL import Image, ImageOps, UnidentifiedImageError

from deixis.errors import DataError
from deixis.features.store.picture_formats import formats, lacks_decoder
from deixis.files import open_regular
from deixis.shapes import UInt8

# What changes pixels; it is part of every cache's identity.
DECODING: dict[str, Any] = {
    "decoder": "pillow",
    "draft": True,
    "resize": "bicubic",
    "alpha": "white",
}
ORIENTATION = 274  # the EXIF tag
MEGAPIXELS = 80.0  # just under the size at which Pillow itself begins to warn


@dataclass(frozen=True, slots=True)
class PictureBytes:
    """The content of a picture file by the name it has, and its file where features lie beside."""

    name: str
    content: bytes
    origin: Path | None = None

    def __str__(self) -> str:
        return self.name


class SharedPicture:
    """A picture that several readers want: it is decoded once for all who want it alike.

    Readers get the very pixels they would get from the file; made for one thread at a time.
    """

    def __init__(self, source: "Path | PictureBytes") -> None:
        self.source = source
        self.size: tuple[int, int] | None = None  # width and height, upright, once decoded
        self._scaled = False  # whether the format can be decoded at a fraction of its size
        self._decoded: dict[int, Image.Image] = {}  # by the fraction's denominator

    def __str__(self) -> str:
        return str(self.source)

    def picture(self, side: int, megapixels: float) -> Image.Image:
        """The picture with both sides at least ``side``, as ``open_picture`` gives it."""
        if self.size is not None and self._fraction(side) in self._decoded:
            return self._decoded[self._fraction(side)]
        picture, self.size, self._scaled = _decoded(self.source, side, megapixels)
        self._decoded[self._fraction(side)] = picture
        return picture

    def smallest(self) -> Image.Image | None:
        """The smallest picture decoded so far, or None; it costs no further decoding."""
        return self._decoded[max(self._decoded)] if self._decoded else None

    def _fraction(self, side: int) -> int:
        """A JPEG decoder keeps one of this many pixels in each direction."""
        assert self.size is not None
        most = min(self.size) // side if self._scaled else 1
        return max(fraction for fraction in (1, 2, 4, 8) if fraction <= max(most, 1))


PictureSource = Path | PictureBytes | SharedPicture
PictureContent = BufferedReader | BytesIO


def open_square(
    path: PictureSource, side: int, megapixels: float = MEGAPIXELS
) -> UInt8[ndarray, "y x 3"]:
    """Open a picture and press the whole of it into a square of RGB pixels.

    Nothing is cropped, so a cell of a feature grid covers the same share of any picture.
    """
    picture = open_picture(path, side, megapixels)
    return np.asarray(picture.resize((side, side), Image.Resampling.BICUBIC))


def mirror_image(pixels: UInt8[ndarray, "y x 3"]) -> UInt8[ndarray, "y x 3"]:
    """Left and right exchanged; by channels, since three bytes at a time are slow to move."""
    out = np.empty_like(pixels)
    for channel in range(pixels.shape[2]):
        out[:, :, channel] = pixels[:, ::-1, channel]
    return out


def open_picture(path: PictureSource, side: int, megapixels: float = MEGAPIXELS) -> Image.Image:
    """Open a picture upright and in RGB, with both sides at least ``side`` where the file has it.

    A large JPEG is decoded at a fraction of its size (several times faster, pixels differ by
    about 1.5 of 255), so training and serving must both come through here.
    """
    if isinstance(path, SharedPicture):
        return path.picture(side, megapixels)
    return _decoded(path, side, megapixels)[0]


def shared(path: PictureSource) -> SharedPicture:
    """A picture that several readers are given."""
    return path if isinstance(path, SharedPicture) else SharedPicture(path)


def _decoded(
    path: Path | PictureBytes, side: int, megapixels: float
) -> tuple[Image.Image, tuple[int, int], bool]:
    """A picture, its own size when upright, and whether fractions of it can be decoded."""
    with _content(path) as content:
        start = content.read(12)
        if not start:
            raise DataError(f"{path}: the file is empty (0 bytes)")
        try:
            return _upright(path, content, side, megapixels)
        except DataError:
            raise
        except UnidentifiedImageError as error:
            reason = lacks_decoder(start) or f"not a picture in a known format; it begins {start!r}"
            raise DataError(f"{path}: {reason}") from error
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            raise DataError(f"{path}: more than {megapixels:g} megapixels ({error})") from error
        except Exception as error:  # decoders fail in many ways on damaged bytes; all mean the same
            raise DataError(f"{path}: the picture is damaged ({error})") from error


def _upright(
    path: Path | PictureBytes, content: PictureContent, side: int, megapixels: float
) -> tuple[Image.Image, tuple[int, int], bool]:
    with Image.open(content, formats=formats()) as file:
        _refuse_bomb(path, file.size, megapixels)
        width, height = file.size
        turned = file.getexif().get(ORIENTATION) in (5, 6, 7, 8)  # these swap the sides
        scaled = file.draft(None, (side, side)) is not None
        ImageOps.exif_transpose(file, in_place=True)  # else a copy, even of an upright one
        size = (height, width) if turned else (width, height)
        return upright_rgb(path, file), size, scaled


def opened(path: Path | PictureBytes) -> PictureContent:
    """The bytes of a picture, to be read; a path that is no regular file raises OSError."""
    return open_regular(path) if isinstance(path, Path) else BytesIO(path.content)


def _content(path: Path | PictureBytes) -> PictureContent:
    if isinstance(path, PictureBytes):
        return opened(path)
    try:
        return opened(path)
    except (OSError, ValueError) as error:  # a name may even hold a zero
        if path.is_file():  # it may be read at another time, or by somebody else
            raise
        found = "it is a folder, not a picture file" if path.is_dir() else "there is no such file"
        raise DataError(f"{path}: {found}") from error


def _refuse_bomb(path: PictureSource, size: tuple[int, int], megapixels: float) -> None:
    found = size[0] * size[1] / 1e6
    if found > megapixels:
        raise DataError(
            f"{path}: {size[0]} x {size[1]} is {found:.1f} megapixels; the limit is {megapixels:g}"
        )


def upright_rgb(path: PictureSource, picture: Image.Image) -> Image.Image:
    """The pixels of an opened picture in RGB, what is transparent on white."""
    if picture.mode in ("I", "F"):
        raise DataError(f"{path}: 32-bit pixels have no defined white; save it with 8 or 16 bits")
    if picture.mode.startswith("I;16"):  # convert() would clip, not scale
        return Image.fromarray((np.asarray(picture) >> 8).astype(np.uint8)).convert("RGB")
    if picture.has_transparency_data:
        clear = picture.convert("RGBA")
        white = Image.new("RGBA", clear.size, "white")
        return Image.alpha_composite(white, clear).convert("RGB")
    return picture.convert("RGB")
