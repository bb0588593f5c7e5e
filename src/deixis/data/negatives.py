"""Negatives mined over a whole split: two lists on disk, and who made them."""

import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.files import file_hash, write_atomic, write_json

FORMAT = "deixis negatives 1"
MANIFEST, TEXTS, IMAGES = "negatives.json", "texts.npy", "images.npy"


@dataclass(frozen=True)
class Source:
    """What negatives were mined with and from; lists of another source are refused."""

    model: str  # hash of the weights that scored
    split: str  # hash of the split that was ranked


@dataclass(frozen=True)
class Negatives:
    """The hardest negatives of each image and of each text, hardest first."""

    texts: Int[ndarray, "image hard_text"]
    images: Int[ndarray, "text hard_image"]
    source: Source

    def save(self, folder: Path) -> None:
        """Write both lists, then the manifest, which makes the folder complete."""
        hashes = {}
        for name, lists in ((TEXTS, self.texts), (IMAGES, self.images)):
            content = io.BytesIO()
            np.save(content, lists.astype(np.int32), allow_pickle=False)
            write_atomic(folder / name, content.getvalue())
            hashes[name] = file_hash(folder / name)
        record = {"format": FORMAT, "source": asdict(self.source), "sha256": hashes}
        write_json(folder / MANIFEST, record)

    @classmethod
    def load(cls, folder: Path) -> "Negatives":
        """Map lists from disk, after checking that they are those that were written."""
        path = folder / MANIFEST
        if not path.is_file():
            raise DataError(f"{folder} holds no mined negatives: it has no {MANIFEST}")
        record = json.loads(path.read_text(encoding="utf-8"))
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
        return cls(texts, images, Source(**record["source"]))
