"""Picture files by content hash, and nothing else on the disk."""

import io
import os
import stat
from functools import lru_cache
from pathlib import Path
from typing import Literal

from starlette.exceptions import HTTPException

from deixis.errors import DataError
from deixis.features.images import open_picture
from deixis.search.library import Library

Size = Literal["thumbnail", "large", "original"]
SIDES = {"thumbnail": 384, "large": 1280}
TYPES = {
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".webp": "image/webp",
}


class Pictures:
    """Reads only files the library names, and only while they are what was indexed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._scaled = lru_cache(maxsize=1024)(self._scale)

    def read(self, id: str, size: Size) -> tuple[bytes, str]:
        """The bytes of a picture and their type."""
        path = self.path(id)
        if size == "original":
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                return file.read(), TYPES.get(path.suffix.lower(), "application/octet-stream")
        return self._scaled(path, id, size), "image/jpeg"

    def path(self, id: str) -> Path:
        """A file that still is the picture with this id."""
        with Library(self._folder) as library:
            entries = library.generation.manifest.files_of(id)
        for entry in entries:
            if _unchanged(entry.path, entry.size, entry.mtime_ns):
                return Path(entry.path)
        if entries:
            raise HTTPException(
                404, f"picture {id} changed or vanished since it was indexed; index again"
            )
        raise HTTPException(404, f"there is no picture {id} in this library")

    @staticmethod
    def _scale(path: Path, id: str, size: Size) -> bytes:
        side = SIDES[size]
        try:
            picture = open_picture(path, side)
        except DataError as error:
            raise HTTPException(404, f"picture {id} cannot be shown: it is damaged") from error
        picture.thumbnail((side, side))
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=88)
        return out.getvalue()


def _unchanged(path: str, size: int, mtime_ns: int) -> bool:
    """Whether a path is a plain file as it was indexed; a link may lead anywhere."""
    try:
        now = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(now.st_mode) and (now.st_size, now.st_mtime_ns) == (size, mtime_ns)
