"""A cache of encoded query pictures: while somebody types, the same picture is sent repeatedly."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from deixis.search.query.encode_queries import EncodedQuery

KEPT = 256  # pictures; a few kilobytes each


class QueryPictureCache:
    """The most recently used examples by picture, part and model."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept, self._lock = kept, threading.Lock()
        self._known: OrderedDict[Hashable, EncodedQuery] = OrderedDict()

    def of(self, key: Hashable, encode: Callable[[], EncodedQuery]) -> EncodedQuery:
        """The vectors of an example, computed where they are not known."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        encoded = encode()
        with self._lock:
            self._known[key] = encoded
            while len(self._known) > self._kept:
                self._known.popitem(last=False)
        return encoded
