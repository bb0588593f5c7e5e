"""Pictures for towers in training that are decoded when a batch needs them."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.store.image_files import PictureSource
from deixis.features.store.packed import PackedRegions, offsets_of

WORKERS = 4  # threads that decode a batch


@dataclass(frozen=True, slots=True)
class DecodedPictures(PackedRegions):
    """Stands in for a cache of pixels that would be too large: it holds paths, no pixels.

    A picture that is missing has no rows, as in a cache; one that cannot be decoded is met only
    when a batch needs it, and then named.
    """

    paths: tuple[PictureSource, ...] = ()
    read: Callable[[PictureSource], Any] | None = None
    pack: Callable[[Sequence[Any]], PackedRegions] | None = None

    @classmethod
    def of(cls, backbone: Any, paths: Sequence[PictureSource], rows: int) -> "DecodedPictures":
        """Pictures with a given number of rows each, as an image backbone reads and packs them."""
        counts = [0 if isinstance(path, Path) and not path.is_file() else rows for path in paths]
        empty = np.zeros((0, 3), np.float32)
        return cls(empty, offsets_of(counts), paths=tuple(paths), read=backbone.read, pack=backbone)

    def decoded(self, images: Int[ndarray, " image"]) -> PackedRegions:
        """The pixels of some pictures, in their order."""
        assert self.read is not None and self.pack is not None, "made by ``of``"
        wanted = [self.paths[image] for image in images.tolist()]
        with ThreadPoolExecutor(WORKERS) as pool:
            return self.pack(list(pool.map(self._open, wanted)))

    def _open(self, path: PictureSource) -> Any:
        assert self.read is not None, "made by ``of``"
        try:
            return self.read(path)
        except DataError as error:
            raise DataError(f"{error}; `deixis data check` lists all such pictures") from error
