"""Where deixis keeps what it can make again: features, network graphs, drawn scenes."""

import os
from pathlib import Path

from platformdirs import user_cache_path

PIXELS = 8.0  # gigabytes of pixels a cache may hold; beyond it pictures are decoded as needed


def pixel_cache_bytes() -> float:
    """How large a cache of pixels may grow: ``$DEIXIS_PIXEL_CACHE`` gigabytes, or 8."""
    return float(os.environ.get("DEIXIS_PIXEL_CACHE", PIXELS)) * 1e9


def cache_folder() -> Path:
    """The cache: ``$DEIXIS_CACHE``, or the system's place for caches (``~/.cache/deixis``)."""
    chosen = os.environ.get("DEIXIS_CACHE")
    return Path(chosen) if chosen else user_cache_path("deixis", appauthor=False)
