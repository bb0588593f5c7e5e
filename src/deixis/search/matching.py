"""A trained run as the encoder of a search library."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from deixis.features.narration import Narration
from deixis.search.parts import Encoded, Parts

if TYPE_CHECKING:
    from deixis.methods.matcher import Matcher
    from deixis.types import Embedding


class RunEncoder:
    """Speaks numpy for the matcher of a run folder; loads it, and torch, on first use."""

    def __init__(self, run: Path, source: str = "") -> None:
        self._run, self._source = run, source

    @cached_property
    def matcher(self) -> "Matcher":
        """The model itself."""
        from deixis.methods.matcher import load  # noqa: PLC0415  torch comes with it

        return load(self._run)

    @property
    def identity(self) -> str:
        """Hash of weights and preprocessing."""
        return self.matcher.identity

    @property
    def source(self) -> str:
        """The run folder, or the name it was asked for by."""
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

    def encode_image(self, files: Sequence[Path]) -> Encoded:
        """Embed picture files together; when that fails, one by one to learn which are broken."""
        self.identity  # noqa: B018  a run that cannot be loaded is not the fault of a file
        try:
            return Encoded(self._embed(files), {})
        except Exception as error:  # decoders raise nearly anything on damaged files
            if len(files) == 1:
                nothing = np.zeros((0, 1, self.dim), dtype=np.float32)
                reason = str(error).removeprefix(f"{files[0]}: ") or type(error).__name__
                return Encoded(Parts(nothing, np.zeros((0, 1), dtype=bool)), {0: reason})
        return _joined([self.encode_image([file]) for file in files])

    def _embed(self, files: Sequence[Path]) -> Parts:
        return _parts(self.matcher.encode_image(files))

    def encode_example(self, files: Sequence[Path]) -> Encoded:
        """Embed picture files to search by."""
        return self.encode_image(files)

    def encode_text(self, texts: Sequence[str]) -> Parts:
        """Embed texts."""
        return _parts(self.matcher.encode_text(texts))

    def encode_narration(self, narrations: Sequence[Narration]) -> Parts:
        """Embed texts together with the traces drawn for them."""
        return _parts(self.matcher.encode_narration(narrations))

    def score(self, texts: Parts, images: Parts) -> Float32[ndarray, "text image"]:
        """Score embedded texts against embedded pictures with the model's own similarity."""
        scores = self.matcher.similarity(_embedding(images), _embedding(texts))
        return scores.numpy().T


def _embedding(parts: Parts) -> "Embedding":
    import torch  # noqa: PLC0415  loaded with the matcher

    from deixis.types import Embedding  # noqa: PLC0415

    return Embedding(torch.from_numpy(parts.vectors), torch.from_numpy(parts.mask))


def _parts(embedding: "Embedding") -> Parts:
    vectors = embedding.vectors.detach().cpu().numpy().astype(np.float32, copy=False)
    return Parts(vectors, embedding.mask.detach().cpu().numpy())


def _joined(singles: Sequence[Encoded]) -> Encoded:
    longest = max(single.parts.vectors.shape[1] for single in singles)
    vectors, masks, broken = [], [], {}
    for place, single in enumerate(singles):
        missing = longest - single.parts.vectors.shape[1]
        vectors.append(np.pad(single.parts.vectors, ((0, 0), (0, missing), (0, 0))))
        masks.append(np.pad(single.parts.mask, ((0, 0), (0, missing))))
        if single.broken:
            broken[place] = single.broken[0]
    return Encoded(Parts(np.concatenate(vectors), np.concatenate(masks)), broken)
