"""Pictures of a library by content hash, as they are or scaled to be looked at."""

import threading
from collections import OrderedDict
from typing import Literal

from starlette.exceptions import HTTPException

from deixis.errors import DataError
from deixis.features.store.picture_formats import PICTURE_TYPES
from deixis.serve.decoding.decode_pool import DecodePool, PictureForm
from deixis.serve.limits.waiting import LONGEST
from deixis.serve.served_library import LibraryPicture, MissingPictureError, ServedLibrary
from deixis.serve.worker import BusyError

Size = Literal["thumbnail", "large", "original"]
SIDES = {"thumbnail": 384, "large": 1280}
KEPT = 64_000_000  # bytes of scaled pictures that are kept


class PictureFiles:
    """Reads only files the library names, and only while they are what was indexed."""

    def __init__(self, library: ServedLibrary, decoder: DecodePool) -> None:
        self._library, self._decoder = library, decoder
        self._scaled: OrderedDict[tuple[str, Size], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def shown(self, id: str, size: Size) -> tuple[bytes, str]:
        """The bytes of a picture to be looked at, and their type."""
        picture = self.picture(id)
        if size == "original":
            self._form(picture, id, PictureForm(SIDES["thumbnail"]))  # proves that it is a picture
            return picture.content, PICTURE_TYPES.get(picture.path.suffix.lower(), "image/jpeg")
        return self._cached(picture, id, size), "image/jpeg"

    def picture(self, id: str) -> LibraryPicture:
        """A picture that still is the one with this id."""
        try:
            return self._library.picture(id)
        except MissingPictureError as error:
            raise HTTPException(404, str(error)) from error

    def _cached(self, picture: LibraryPicture, id: str, size: Size) -> bytes:
        key = id, size
        with self._lock:
            if key in self._scaled:
                self._scaled.move_to_end(key)
                return self._scaled[key]
        side = SIDES[size]
        content = self._form(picture, id, PictureForm(side, side, format="JPEG"))
        with self._lock:
            self._scaled[key] = content
            while sum(map(len, self._scaled.values())) > KEPT:
                self._scaled.popitem(last=False)
        return content

    def _form(self, picture: LibraryPicture, id: str, form: PictureForm) -> bytes:
        done = self._decoder.open(picture.content, form)
        try:
            return done.result(LONGEST)
        except TimeoutError:
            done.cancel()
            raise BusyError from None
        except DataError as error:
            raise HTTPException(404, f"picture {id} cannot be shown: {error}") from error
