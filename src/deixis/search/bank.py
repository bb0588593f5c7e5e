"""A bank of training texts, which tells a picture that fits this query from one that fits all."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from deixis.errors import RunError
from deixis.features.files import file_hash

FILE = "bank.safetensors"
NEAREST, WEIGHT = "nearest", "weight"
IMAGES = 256  # compared with the bank at once


@dataclass(frozen=True, slots=True)
class Bank:
    """Embedded texts, how many of them say how popular a picture is, and how much that counts."""

    texts: Float32[ndarray, "text dim"]
    nearest: int
    weight: float
    identity: str

    @classmethod
    def read(cls, path: Path) -> "Bank":
        """Read the bank of a run folder."""
        from safetensors import SafetensorError, safe_open  # noqa: PLC0415  only where there is one

        try:
            with safe_open(path, "numpy") as file:
                texts = file.get_tensor("texts").astype(np.float32) * file.get_tensor("scale")
                told = file.metadata()
                nearest, weight = int(told[NEAREST]), float(told[WEIGHT])
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise RunError(f"{path} is no bank of texts: {error}; pack the run again") from error
        return cls(texts, nearest, weight, file_hash(path))

    @staticmethod
    def write(path: Path, texts: Float32[ndarray, "text dim"], nearest: int, weight: float) -> None:
        """Keep texts in eight bits."""
        from safetensors.numpy import save_file  # noqa: PLC0415

        scale = (np.abs(texts).max(axis=1, keepdims=True) / 127).astype(np.float32)
        rounded = np.round(texts / scale).astype(np.int8)
        told = {NEAREST: str(min(nearest, len(texts))), WEIGHT: str(weight)}
        save_file({"texts": rounded, "scale": scale}, path, told)

    def popularity(self, images: Float32[ndarray, "image dim"]) -> Float32[ndarray, " image"]:
        """How near each picture is to its nearest texts, whatever they say, times the weight."""
        found = np.empty(len(images), dtype=np.float32)
        for start in range(0, len(images), IMAGES):
            scores = images[start : start + IMAGES] @ self.texts.T
            last = scores.shape[1] - self.nearest
            best = np.partition(scores, last, axis=1)[:, last:]
            found[start : start + IMAGES] = self.weight * best.mean(axis=1)
        return found
