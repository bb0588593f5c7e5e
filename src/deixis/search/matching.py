"""A trained run as the encoder of a search library."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deixis.search.parts import Encoded, Parts

if TYPE_CHECKING:
    from deixis.methods.matcher import Matcher
    from deixis.types import Embedding


class RunEncoder:
    """Speaks numpy for the matcher of a run folder; loads it, and torch, on first use."""

    def __init__(self, run: Path) -> None:
        self._run = run

    @cached_property
    def _matcher(self) -> "Matcher":
        from deixis.methods.matcher import load  # noqa: PLC0415  torch comes with it

        return load(self._run)

    @property
    def identity(self) -> str:
        """Hash of weights and preprocessing."""
        return self._matcher.identity

    @property
    def source(self) -> str:
        """The run folder."""
        return str(self._run.resolve())

    @cached_property
    def dim(self) -> int:
        """Length of every vector."""
        return int(self.encode_text(["a picture"]).vectors.shape[-1])

    def encode_image(self, files: Sequence[Path]) -> Encoded:
        """Embed picture files together; when that fails, one by one to learn which are broken."""
        matcher = self._matcher  # a run that cannot be loaded is not the fault of a file
        try:
            return Encoded(_parts(matcher.encode_image(files)), {})
        except Exception as error:  # decoders raise nearly anything on damaged files
            if len(files) == 1:
                nothing = np.zeros((0, 1, self.dim), dtype=np.float32)
                reason = str(error).removeprefix(f"{files[0]}: ") or type(error).__name__
                return Encoded(Parts(nothing, np.zeros((0, 1), dtype=bool)), {0: reason})
        return _joined([self.encode_image([file]) for file in files])

    def encode_text(self, texts: Sequence[str]) -> Parts:
        """Embed texts."""
        return _parts(self._matcher.encode_text(texts))


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
