"""A trained run as the encoder of a search library."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from deixis.errors import RunError
from deixis.extras import need
from deixis.features.store.image_files import PictureSource
from deixis.features.trace.narration import Narration
from deixis.search.encoders.embedded_parts import EmbeddedParts, EncodedFiles, joined_files
from deixis.search.places.place_reader import PlaceReader
from deixis.shapes import Float32

if TYPE_CHECKING:
    from deixis.runs.matcher import Matcher
    from deixis.types import Embedding


class TorchEncoder:
    """Speaks numpy for the matcher of a run folder; loads it, and torch, on first use."""

    def __init__(self, run: Path, source: str = "") -> None:
        self._run, self._source = run, source

    @cached_property
    def matcher(self) -> "Matcher":
        """The model itself."""
        need("torch", "train")
        from deixis.runs.matcher import load  # torch comes with it

        return load(self._run)

    @property
    def identity(self) -> str:
        """Hash of weights and preprocessing."""
        return self.matcher.identity

    @property
    def source(self) -> str:
        """The run folder, or the name under which it was requested."""
        return self._source or str(self._run.resolve())

    @cached_property
    def dim(self) -> int:
        """Length of every vector."""
        return int(self.encode_text(["a picture"]).vectors.shape[-1])

    @property
    def exact(self) -> bool:
        """Whether a score is the inner product of single vectors."""
        return self.matcher.model.similarity.exact

    @property
    def reads_traces(self) -> bool:
        """Whether strokes drawn with a text change its vector."""
        return self.matcher.reads_traces

    @cached_property
    def places(self) -> PlaceReader | None:
        """What reads cells and phrases, where the run carries a place head."""
        return PlaceReader.of(self._run)

    @property
    def concurrent(self) -> bool:
        """Whether threads may encode at once; torch itself uses every core."""
        return False

    def encode_image(self, files: Sequence[PictureSource]) -> EncodedFiles:
        """Embed picture files together; when that fails, one by one to learn which are broken."""
        self.identity  # noqa: B018  a run that cannot be loaded is not the fault of a file
        try:
            return self._embed(files)
        except RunError:  # nor is one whose graphs cannot be opened
            raise
        except Exception as error:  # decoders raise nearly anything on damaged files
            if len(files) == 1:
                nothing = np.zeros((0, 1, self.dim), dtype=np.float32)
                reason = str(error).removeprefix(f"{files[0]}: ") or type(error).__name__
                return EncodedFiles(
                    EmbeddedParts(nothing, np.zeros((0, 1), dtype=bool)), {0: reason}
                )
        return joined_files([self.encode_image([file]) for file in files])

    def _embed(self, files: Sequence[PictureSource]) -> EncodedFiles:
        cells = None if self.places is None else self.places.cells(files)
        return EncodedFiles(self._parts_of(files), {}, cells)

    def _parts_of(self, files: Sequence[PictureSource]) -> EmbeddedParts:
        return _parts(self.matcher.encode_image(files))

    def encode_example(self, files: Sequence[PictureSource]) -> EncodedFiles:
        """Embed picture files to search by."""
        return self.encode_image(files)

    def encode_text(self, texts: Sequence[str]) -> EmbeddedParts:
        """Embed texts."""
        return _parts(self.matcher.encode_text(texts))

    def encode_narration(self, narrations: Sequence[Narration]) -> EmbeddedParts:
        """Embed texts together with the traces drawn for them."""
        return _parts(self.matcher.encode_narration(narrations))

    def score(self, texts: EmbeddedParts, images: EmbeddedParts) -> Float32[ndarray, "text image"]:
        """Score embedded texts against embedded pictures with the model's own similarity."""
        scores = self.matcher.similarity(_embedding(images), _embedding(texts))
        return scores.numpy().T


def _embedding(parts: EmbeddedParts) -> "Embedding":
    import torch  # loaded with the matcher

    from deixis.types import Embedding

    return Embedding(torch.from_numpy(parts.vectors), torch.from_numpy(parts.mask))


def _parts(embedding: "Embedding") -> EmbeddedParts:
    vectors = embedding.vectors.detach().cpu().numpy().astype(np.float32, copy=False)
    return EmbeddedParts(vectors, embedding.mask.detach().cpu().numpy())
