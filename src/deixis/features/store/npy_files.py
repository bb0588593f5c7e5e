"""Arrays of numpy files, mapped or refused with the reason."""

from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.errors import DataError


def map_npy(path: Path) -> ndarray:
    """Map an array into memory; one that is empty, cut or something else is refused."""
    try:
        array: ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path}: not an array numpy can map ({error})") from error
    return array
