"""What search needs of a model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from jaxtyping import Float32
from numpy import ndarray

from deixis.features.narration import Narration
from deixis.search.parts import Encoded, Parts


@runtime_checkable
class Encoder(Protocol):
    """Turns picture files and texts into vectors, and scores them."""

    @property
    def identity(self) -> str:
        """Hash of weights and preprocessing: equal exactly when vectors may be compared."""

    @property
    def source(self) -> str:
        """Where the model can be loaded from again, for whoever opens the library next."""

    @property
    def dim(self) -> int:
        """Length of every vector."""

    @property
    def exact(self) -> bool:
        """Whether a score is the inner product of single vectors."""

    @property
    def reads_traces(self) -> bool:
        """Whether strokes drawn with a text change its vector."""

    def encode_image(self, files: Sequence[Path]) -> Encoded:
        """Embed picture files; a file that cannot be read is an outcome, never an exception."""

    def encode_example(self, files: Sequence[Path]) -> Encoded:
        """Embed picture files to search by: pictures like them are wanted."""

    def encode_text(self, texts: Sequence[str]) -> Parts:
        """Embed texts."""

    def encode_narration(self, narrations: Sequence[Narration]) -> Parts:
        """Embed texts together with the traces drawn for them."""

    def score(self, texts: Parts, images: Parts) -> Float32[ndarray, "text image"]:
        """Score embedded texts, or pictures in their place, against embedded pictures."""
