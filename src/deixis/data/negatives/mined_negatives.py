"""Hard negatives mined over a whole split: two lists on disk, and which model mined them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from deixis.errors import DataError
from deixis.files import file_hash, parse_json, replacing, write_json

FORMAT = "deixis negatives 1"
MANIFEST, TEXTS, IMAGES = "negatives.json", "texts.npy", "images.npy"


@dataclass(frozen=True)
class MiningSource:
    """What negatives were mined with and from; lists of another source are refused."""

    model: str  # hash of the weights that scored
    split: str  # hash of the split that was ranked


@dataclass(frozen=True)
class MinedNegatives:
    """The hardest negatives of each image and of each text, hardest first."""

    texts: Int[ndarray, "image hard_text"]
    images: Int[ndarray, "text hard_image"]
    source: MiningSource

    def save(self, folder: Path) -> None:
        """Write both lists, then the manifest, which makes the folder complete."""
        _write(folder, self.source, [self.texts], [self.images])

    @classmethod
    def write(
        cls, folder: Path, source: MiningSource, texts: Iterable[ndarray], images: Iterable[ndarray]
    ) -> "MinedNegatives":
        """Write lists that arrive in strips, holding one strip at a time; map them back."""
        _write(folder, source, texts, images)
        return cls.load(folder)

    def cut(self, texts: int, images: int) -> "MinedNegatives":
        """The first of each list."""
        return MinedNegatives(self.texts[:, :texts], self.images[:, :images], self.source)

    @classmethod
    def load(cls, folder: Path) -> "MinedNegatives":
        """Map lists from disk, after checking that they are those that were written."""
        path = folder / MANIFEST
        if not path.is_file():
            raise DataError(f"{folder} holds no mined negatives: it has no {MANIFEST}")
        record = parse_json(path.read_text(encoding="utf-8"))
        if record.get("format") != FORMAT:
            raise DataError(f"{path}: not mined negatives; wanted the format '{FORMAT}'")
        for name, wanted in record["sha256"].items():
            found = file_hash(folder / name)
            if found != wanted:
                raise DataError(
                    f"{folder / name} is damaged: its hash is {found[:12]}, the manifest says "
                    f"{wanted[:12]}; mine again"
                )
        texts, images = (
            np.load(folder / name, mmap_mode="r", allow_pickle=False) for name in (TEXTS, IMAGES)
        )
        return cls(texts, images, MiningSource(**record["source"]))


def _write(
    folder: Path, source: MiningSource, texts: Iterable[ndarray], images: Iterable[ndarray]
) -> None:
    hashes = {}
    for name, lists in ((TEXTS, texts), (IMAGES, images)):
        with replacing(folder / name) as temporary:
            _write_strips(temporary, lists)
        hashes[name] = file_hash(folder / name)
    record = {"format": FORMAT, "source": asdict(source), "sha256": hashes}
    write_json(folder / MANIFEST, record)


def _write_strips(path: Path, strips: Iterable[ndarray]) -> None:
    """An array on disk, strip after strip; its header is written again once its length is known."""
    rows = width = 0
    with path.open("wb") as file:
        for strip in strips:
            if rows == 0:
                width = strip.shape[1]
                _write_header(file, (0, width))
            file.write(np.ascontiguousarray(strip, dtype=np.int32).tobytes())
            rows += len(strip)
        file.seek(0)
        _write_header(file, (rows, width))


def _write_header(file: BinaryIO, shape: tuple[int, int]) -> None:
    """The length of a header does not depend on the shape: numpy leaves room for it to grow."""
    header = {"descr": np.dtype(np.int32).str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
