"""The decoder process, which only opens uploaded pictures; the pool starts it by file name.

A decoder that is led astray by a hostile file can use up this process and no more: it may hold a
bounded amount of memory and of the processor's time, and yields to searches. Requests come on
standard input, answers go to standard output, both as `message_frames` says.
"""

import math
import os
import sys
import time
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from PIL import Image, ImageOps, UnidentifiedImageError

from deixis.errors import DataError
from deixis.features.store.image_files import upright_rgb
from deixis.features.store.picture_formats import formats
from deixis.serve.decoding.message_frames import read_message, write_message

NAME = Path("the picture")
MEMORY = 224_000_000  # bytes beyond what the process holds when it starts
PIXEL_BYTES = 160_000_000  # the same for the pixels of one picture
HANDED_ON = 4_000_000  # pixels of what the server gets
CPU = 8  # seconds of the processor one picture may take
LOWER = 5  # niceness: searches go first, but a busy machine must not starve a decoder
MODES = {"1": 5, "L": 1, "P": 9, "RGB": 4, "CMYK": 8, "YCbCr": 8, "I;16": 8}  # bytes per pixel
WIDEST = 8  # of any other mode, transparent ones among them: two copies of four channels


def bounded_picture(content: bytes, side: int) -> Image.Image:
    """Open a picture upright, in RGB, its shorter side not far above ``side`` if it was larger."""
    with Image.open(BytesIO(content), formats=formats()) as file:
        file.draft(None, (side, side))
        needed = file.width * file.height * MODES.get(file.mode, WIDEST)
        if needed > PIXEL_BYTES:
            raise DataError(
                f"{NAME} is too large: {file.width} x {file.height} pixels would take "
                f"{needed / 1e6:.0f} MB; the limit is {PIXEL_BYTES / 1e6:.0f}"
            )
        picture = _reduced(file, min(file.size) // side)
        ImageOps.exif_transpose(picture, in_place=True)
        return upright_rgb(NAME, picture)


def _reduced(file: Image.Image, factor: int) -> Image.Image:
    """A picture with each square of ``factor`` pixels per side as one pixel, if that shrinks it."""
    if factor < 2 or file.mode.startswith(("I", "F")):
        return file
    if file.mode in ("1", "P", "PA", "LA"):
        return file.convert("RGBA" if file.has_transparency_data else "RGB").reduce(factor)
    return file.reduce(factor)


def prepared(content: bytes, wanted: dict[str, Any]) -> bytes:
    """A picture as requested: a part of it, of limited size, in one of two formats."""
    try:
        return _handed_on(bounded_picture(content, wanted["side"]), wanted)
    except DataError:
        raise
    except MemoryError as error:
        raise DataError(f"{NAME} needs more than {MEMORY / 1e6:.0f} MB to open") from error
    except UnidentifiedImageError as error:
        raise DataError(f"{NAME} is in no known format; known: {', '.join(formats())}") from error
    except Exception as error:  # decoders fail in many ways on damaged bytes; all mean the same
        if "memory" in str(error).lower():  # those of AVIF and HEIC have errors of their own
            raise DataError(f"{NAME} needs more than {MEMORY / 1e6:.0f} MB to open") from error
        raise DataError(f"{NAME} is damaged ({error})") from error


def _handed_on(picture: Image.Image, wanted: dict[str, Any]) -> bytes:
    """What the server gets of an opened picture."""
    if wanted["crop"] is not None:
        picture = _part(picture, wanted["crop"])
    if wanted["largest"]:
        picture.thumbnail((wanted["largest"], wanted["largest"]))
    picture = _small_enough(picture)
    out = BytesIO()
    picture.save(out, wanted["format"], quality=88)
    return out.getvalue()


def _small_enough(picture: Image.Image) -> Image.Image:
    """A picture that costs the server little: of a thin one the longer side alone is pressed.

    What is looked at is bounded before; what is searched by, models press into a square anyway.
    """
    if picture.width * picture.height <= HANDED_ON:
        return picture
    shorter = min(*picture.size, math.isqrt(HANDED_ON))
    longer = HANDED_ON // shorter
    return picture.resize(
        (min(picture.width, longer), shorter)
        if picture.width > picture.height
        else (shorter, min(picture.height, longer)),
        Image.Resampling.BOX,
    )


def _part(picture: Image.Image, box: list[float]) -> Image.Image:
    (width, height), (xmin, xmax, ymin, ymax) = picture.size, box
    left, top = int(xmin * width), int(ymin * height)
    right, bottom = max(left + 1, int(xmax * width)), max(top + 1, int(ymax * height))
    return picture.crop((left, top, right, bottom))


def bind() -> None:
    """Give up what a decoder does not need; where the system has no limits, time alone bounds."""
    try:
        import resource  # not on Windows

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        memory = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it has nothing to write
        os.nice(LOWER)
    except (ImportError, OSError, ValueError):
        return


def grant_time() -> None:
    """Let the next picture take so much of the processor; the system kills who takes more."""
    try:
        import resource  # noqa: PLC0415  not on Windows

        spent = math.ceil(time.process_time())
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (spent + CPU, most))
    except (ImportError, OSError, ValueError):
        return


def main(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer until nobody asks any more."""
    Image.preinit()  # decoders are loaded before memory is bounded
    Image.init()
    bind()
    write_message(answers, {"ready": True}, b"")
    while (request := read_message(requests)) is not None:
        wanted, content = request
        grant_time()
        try:
            write_message(answers, {"ok": True}, prepared(content, wanted))
        except DataError as error:
            write_message(answers, {"ok": False, "reason": str(error)}, b"")


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
