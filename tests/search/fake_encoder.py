"""A stand-in for a model: vectors drawn from the hash of a file's bytes or of a text."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deixis.features.narration import Narration
from deixis.search.parts import Encoded, Parts


class FakeEncoder:
    """Calls a file broken when it begins with "bad", and counts what it encodes."""

    exact = True
    reads_traces = True

    def __init__(self, identity: str = "a" * 32, dim: int = 8, source: str = "runs/fake") -> None:
        self.identity, self.dim, self.source = identity, dim, source
        self.seen: list[str] = []

    def encode_image(self, files: Sequence[Path]) -> Encoded:
        contents = [file.read_bytes() for file in files]
        self.seen += [file.name for file in files]
        broken = {i: "no picture" for i, data in enumerate(contents) if data.startswith(b"bad")}
        return Encoded(self._parts([c for i, c in enumerate(contents) if i not in broken]), broken)

    def encode_example(self, files: Sequence[Path]) -> Encoded:
        return self.encode_image(files)

    def encode_text(self, texts: Sequence[str]) -> Parts:
        return self._parts([text.encode() for text in texts])

    def encode_narration(self, narrations: Sequence[Narration]) -> Parts:
        drawn = [f"{n.text} {n.strokes} {n.words}".encode() for n in narrations]
        return self._parts(drawn)

    def score(self, texts: Parts, images: Parts) -> np.ndarray:
        return texts.vectors[:, 0] @ images.vectors[:, 0].T

    def vector(self, data: bytes) -> np.ndarray:
        seed = int.from_bytes(hashlib.sha256(self.identity.encode() + data).digest()[:8], "big")
        vector = np.random.default_rng(seed).normal(size=self.dim).astype(np.float32)
        return vector / np.linalg.norm(vector)

    def _parts(self, contents: Sequence[bytes]) -> Parts:
        vectors = np.zeros((len(contents), 1, self.dim), dtype=np.float32)
        for item, data in enumerate(contents):
            vectors[item, 0] = self.vector(data)
        return Parts(vectors, np.ones((len(contents), 1), dtype=bool))
