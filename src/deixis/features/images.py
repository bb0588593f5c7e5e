"""Picture files as people have them, opened right or refused with the reason."""

from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8
from numpy import ndarray
from PIL import Image, ImageOps, UnidentifiedImageError

from deixis.errors import DataError

# What changes pixels; it is part of every cache's identity.
DECODING: dict[str, Any] = {
    "decoder": "pillow",
    "draft": True,
    "resize": "bicubic",
    "alpha": "white",
}
MEGAPIXELS = 80.0  # just under the size at which Pillow itself begins to warn


def open_square(path: Path, side: int, megapixels: float = MEGAPIXELS) -> UInt8[ndarray, "y x 3"]:
    """Open a picture and press the whole of it into a square of RGB pixels.

    Nothing is cropped, so a cell of a feature grid covers the same share of any picture.
    """
    picture = open_picture(path, side, megapixels)
    return np.asarray(picture.resize((side, side), Image.Resampling.BICUBIC))


def open_picture(path: Path, side: int, megapixels: float = MEGAPIXELS) -> Image.Image:
    """Open a picture upright and in RGB, with both sides at least ``side`` where the file has it.

    A large JPEG is decoded at a fraction of its size (several times faster, pixels differ by
    about 1.5 of 255), so training and serving must both come through here.
    """
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty (0 bytes)")
    try:
        with Image.open(path) as file:
            _refuse_bomb(path, file.size, megapixels)
            file.draft(None, (side, side))
            return _rgb(path, ImageOps.exif_transpose(file))
    except DataError:
        raise
    except UnidentifiedImageError as error:
        with path.open("rb") as raw:
            start = raw.read(12)
        raise DataError(f"{path}: not a picture in a known format; it begins {start!r}") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise DataError(f"{path}: more than {megapixels:g} megapixels ({error})") from error
    except Exception as error:  # decoders fail in many ways on damaged bytes; all mean the same
        raise DataError(f"{path}: the picture is damaged ({error})") from error


def _refuse_bomb(path: Path, size: tuple[int, int], megapixels: float) -> None:
    found = size[0] * size[1] / 1e6
    if found > megapixels:
        raise DataError(
            f"{path}: {size[0]} x {size[1]} is {found:.1f} megapixels; the limit is {megapixels:g}"
        )


def _rgb(path: Path, picture: Image.Image) -> Image.Image:
    if picture.mode in ("I", "F"):
        raise DataError(f"{path}: 32-bit pixels have no agreed white; save it with 8 or 16 bits")
    if picture.mode.startswith("I;16"):  # convert() would clip, not scale
        return Image.fromarray((np.asarray(picture) >> 8).astype(np.uint8)).convert("RGB")
    if picture.has_transparency_data:
        clear = picture.convert("RGBA")
        white = Image.new("RGBA", clear.size, "white")
        return Image.alpha_composite(white, clear).convert("RGB")
    return picture.convert("RGB")
