"""What search needs of a model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from deixis.search.parts import Encoded, Parts


@runtime_checkable
class Encoder(Protocol):
    """Turns picture files and texts into vectors whose inner product is their score."""

    @property
    def identity(self) -> str:
        """Hash of weights and preprocessing: equal exactly when vectors may be compared."""

    @property
    def source(self) -> str:
        """Where the model can be loaded from again, for whoever opens the library next."""

    @property
    def dim(self) -> int:
        """Length of every vector."""

    def encode_image(self, files: Sequence[Path]) -> Encoded:
        """Embed picture files; a file that cannot be read is an outcome, never an exception."""

    def encode_text(self, texts: Sequence[str]) -> Parts:
        """Embed texts."""
