"""A bank of training texts, for hubness correction: how near a picture is to texts in general."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.errors import RunError
from deixis.features.store.content_hashes import content_hash
from deixis.files import replacing
from deixis.shapes import Float32

NEAREST, WEIGHT = "nearest", "weight"
IMAGES = 256  # compared with the bank at once


@dataclass(frozen=True, slots=True)
class Bank:
    """Embedded texts, how many of the nearest are averaged, and the weight of that average."""

    texts: Float32[ndarray, "text dim"]
    nearest: int
    weight: float
    identity: str = ""  # of the file it was read from

    @classmethod
    def read(cls, path: Path) -> "Bank":
        """Read the bank of a run folder."""
        from safetensors import SafetensorError, safe_open  # only where there is one

        try:
            with safe_open(path, "numpy") as file:
                texts = file.get_tensor("texts").astype(np.float32) * file.get_tensor("scale")
                written = file.metadata()
                nearest, weight = int(written[NEAREST]), float(written[WEIGHT])
            if texts.ndim != 2 or not 1 <= nearest <= len(texts):
                raise ValueError(f"of {texts.shape} texts {nearest} are wanted")
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise RunError(f"{path} is not a bank of texts: {error}; pack the run again") from error
        return cls(texts, nearest, weight, content_hash(path))

    def write(self, path: Path) -> None:
        """Write it with its texts in eight bits."""
        from safetensors.numpy import save_file

        scale = (np.abs(self.texts).max(axis=1, keepdims=True) / 127).astype(np.float32)
        rounded = np.round(self.texts / scale).astype(np.int8)
        settings = {NEAREST: str(self.nearest), WEIGHT: str(self.weight)}
        with replacing(path) as temporary:
            save_file({"texts": rounded, "scale": scale}, temporary, settings)

    def popularity(self, images: Float32[ndarray, "image dim"]) -> Float32[ndarray, " image"]:
        """How near each picture is to its nearest texts, whatever they say, times the weight."""
        found = np.empty(len(images), dtype=np.float32)
        for start in range(0, len(images), IMAGES):
            scores = images[start : start + IMAGES] @ self.texts.T
            last = scores.shape[1] - self.nearest
            best = np.partition(scores, last, axis=1)[:, last:]
            found[start : start + IMAGES] = self.weight * best.mean(axis=1)
        return found
