"""A stand-in for a model: vectors drawn from the hash of a file's pixels or of a text."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deixis.errors import DataError
from deixis.features.store.image_files import PictureSource, SharedPicture, open_square
from deixis.features.trace.narration import Narration
from deixis.runs.places.place_head import PlaceHead, StoredCells
from deixis.search.encoders.embedded_parts import EmbeddedParts, EncodedFiles
from deixis.search.places.place_reader import PlaceReader
from deixis.similarity.places.place_score import PlaceScore


def fake_places(identity: str = "a head") -> PlaceReader:
    """A place head of nothing but its name."""
    nothing = {"anything": np.zeros(64, np.float32)}
    return PlaceReader(
        PlaceHead(nothing, PlaceScore(), "cells-int8", "minilm-int8", identity=identity)
    )


def _seen(file: PictureSource) -> bytes:
    """The pixels of a picture, or the bytes of a file that only stands for one."""
    try:
        return open_square(file, 32).tobytes()
    except DataError:
        file = _source(file)
        return file.read_bytes() if isinstance(file, Path) else file.content


def _source(file: PictureSource) -> PictureSource:
    return file.source if isinstance(file, SharedPicture) else file


class FakeEncoder:
    """Calls a file broken when it begins with "bad", and counts what it encodes."""

    exact = True
    reads_traces = True
    concurrent = False

    def __init__(
        self,
        identity: str = "a" * 32,
        dim: int = 8,
        source: str = "runs/fake",
        places: PlaceReader | None = None,
    ) -> None:
        self.identity, self.dim, self.source, self.places = identity, dim, source, places
        self.seen: list[str] = []

    def encode_image(self, files: Sequence[Path]) -> EncodedFiles:
        contents = [_seen(file) for file in files]
        self.seen += [_source(file).name for file in files]
        broken = {i: "no picture" for i, data in enumerate(contents) if data.startswith(b"bad")}
        sound = [c for i, c in enumerate(contents) if i not in broken]
        cells = self.cells(sound) if self.places is not None else None
        return EncodedFiles(self._parts(sound), broken, cells)

    def encode_example(self, files: Sequence[Path]) -> EncodedFiles:
        return self.encode_image(files)

    def encode_text(self, texts: Sequence[str]) -> EmbeddedParts:
        return self._parts([text.encode() for text in texts])

    def encode_narration(self, narrations: Sequence[Narration]) -> EmbeddedParts:
        drawn = [f"{n.text} {n.strokes} {n.words}".encode() for n in narrations]
        return self._parts(drawn)

    def score(self, texts: EmbeddedParts, images: EmbeddedParts) -> np.ndarray:
        return texts.vectors[:, 0] @ images.vectors[:, 0].T

    def cells(self, contents: Sequence[bytes]) -> StoredCells:
        sums = [hashlib.sha256(self.places.identity.encode() + data).digest() for data in contents]
        values = np.array([np.resize(np.frombuffer(s, np.int8), (81, 64)) for s in sums], np.int8)
        return StoredCells(values.reshape(-1, 81, 64), np.full(len(sums), 1 / 127, np.float32))

    def vector(self, data: bytes) -> np.ndarray:
        seed = int.from_bytes(hashlib.sha256(self.identity.encode() + data).digest()[:8], "big")
        vector = np.random.default_rng(seed).normal(size=self.dim).astype(np.float32)
        return vector / np.linalg.norm(vector)

    def _parts(self, contents: Sequence[bytes]) -> EmbeddedParts:
        vectors = np.zeros((len(contents), 1, self.dim), dtype=np.float32)
        for item, data in enumerate(contents):
            vectors[item, 0] = self.vector(data)
        return EmbeddedParts(vectors, np.ones((len(contents), 1), dtype=bool))
