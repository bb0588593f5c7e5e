"""An encoder with hubness correction.

*Formula*: ``score = ⟨text, picture⟩ − popularity(picture)``. Popularity is written behind a
picture's vector, a one behind a text's, so the score stays one inner product: any index ranks by
it, and a picture is corrected once, when it is indexed.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy import ndarray

from deixis.errors import RunError
from deixis.features.store.image_files import PictureSource
from deixis.features.trace.narration import Narration
from deixis.files import json_hash
from deixis.runs.text_bank import Bank
from deixis.search.encoders.embedded_parts import EmbeddedParts, EncodedFiles
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.places.place_reader import PlaceReader
from deixis.shapes import Float32


class HubnessEncoder:
    """Wraps the encoder of a run of single vectors; a picture searched by is not corrected."""

    exact = True

    def __init__(self, run: SearchEncoder, bank: Bank) -> None:
        if not run.exact:
            raise RunError(f"{run.source} has a bank, but its scores are no inner products")
        self.run, self._bank = run, bank

    @cached_property
    def identity(self) -> str:
        """Hash of weights, preprocessing and bank."""
        return json_hash([self.run.identity, self._bank.identity])

    @property
    def source(self) -> str:
        """The run folder, or the name under which it was requested."""
        return self.run.source

    @property
    def dim(self) -> int:
        """Length of every vector."""
        return self._bank.texts.shape[1] + 1

    @property
    def reads_traces(self) -> bool:
        """Whether strokes drawn with a text change its vector."""
        return self.run.reads_traces

    @property
    def places(self) -> PlaceReader | None:
        """What reads cells and phrases, where the run carries a place head."""
        return self.run.places

    @property
    def concurrent(self) -> bool:
        """Whether pictures may be encoded in several threads at once."""
        return self.run.concurrent

    def encode_image(self, files: Sequence[PictureSource]) -> EncodedFiles:
        """Embed picture files and how popular each is."""
        encoded = self.run.encode_image(files)
        length, wanted = encoded.parts.vectors.shape[2], self._bank.texts.shape[1]
        if length != wanted:
            raise RunError(
                f"{self.run.source} gives vectors of {length} numbers, its bank has {wanted}; pack "
                "the run again"
            )
        popular = self._bank.popularity(encoded.parts.vectors[:, 0])
        return EncodedFiles(_with(encoded.parts, -popular), encoded.broken, encoded.cells)

    def encode_example(self, files: Sequence[PictureSource]) -> EncodedFiles:
        """Embed picture files to search by: likeness alone counts."""
        encoded = self.run.encode_image(files)
        return EncodedFiles(_with(encoded.parts, np.zeros(len(encoded.parts))), encoded.broken)

    def encode_text(self, texts: Sequence[str]) -> EmbeddedParts:
        """Embed texts."""
        return _with(self.run.encode_text(texts), np.ones(len(texts)))

    def encode_narration(self, narrations: Sequence[Narration]) -> EmbeddedParts:
        """Embed texts together with the traces drawn for them."""
        return _with(self.run.encode_narration(narrations), np.ones(len(narrations)))

    def score(self, texts: EmbeddedParts, images: EmbeddedParts) -> Float32[ndarray, "text image"]:
        """Score embedded texts, or pictures in their place, against embedded pictures."""
        return np.asarray(texts.vectors[:, 0] @ images.vectors[:, 0].T)


def _with(parts: EmbeddedParts, last: ndarray) -> EmbeddedParts:
    column = last.astype(np.float32).reshape(-1, 1, 1)
    return EmbeddedParts(np.concatenate([parts.vectors, column], axis=2), parts.mask)
