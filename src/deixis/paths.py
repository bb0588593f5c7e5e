"""Where deixis keeps files that it can compute again: features, network graphs, drawn scenes."""

import os
from pathlib import Path

from platformdirs import user_cache_path

from deixis.errors import DeixisError

PIXELS = 8.0  # gigabytes of pixels a cache may hold; beyond it pictures are decoded as needed


def pixel_cache_bytes() -> float:
    """How large a cache of pixels may grow: ``$DEIXIS_PIXEL_CACHE`` gigabytes, or 8."""
    said = os.environ.get("DEIXIS_PIXEL_CACHE", PIXELS)
    try:
        return float(said) * 1e9
    except ValueError:
        raise DeixisError(
            f"DEIXIS_PIXEL_CACHE is '{said}'; wanted a number of gigabytes, such as 8"
        ) from None


def cache_folder() -> Path:
    """The cache: ``$DEIXIS_CACHE``, or the system's place for caches (``~/.cache/deixis``)."""
    chosen = os.environ.get("DEIXIS_CACHE")
    return Path(chosen) if chosen else user_cache_path("deixis", appauthor=False)


def expanded(path: str | Path) -> Path:
    """A path with ``~`` written out; it stays where there is no such user, whom ``Path`` refuses.

    >>> expanded("~nobody-at-all/photos").name
    'photos'
    """
    return Path(os.path.expanduser(path))
