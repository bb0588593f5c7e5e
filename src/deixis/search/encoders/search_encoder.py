"""The interface that search requires of a model."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from numpy import ndarray

from deixis.features.store.image_files import PictureSource
from deixis.features.trace.narration import Narration
from deixis.search.encoders.embedded_parts import EmbeddedParts, EncodedFiles
from deixis.search.places.place_reader import PlaceReader
from deixis.shapes import Float32


@runtime_checkable
class SearchEncoder(Protocol):
    """Turns picture files and texts into vectors, and scores them."""

    @property
    def identity(self) -> str:
        """Hash of weights and preprocessing: equal exactly when vectors may be compared."""

    @property
    def source(self) -> str:
        """Where the model can be loaded from again when the library is opened next."""

    @property
    def dim(self) -> int:
        """Length of every vector."""

    @property
    def exact(self) -> bool:
        """Whether a score is the inner product of single vectors."""

    @property
    def reads_traces(self) -> bool:
        """Whether strokes drawn with a text change its vector."""

    @property
    def places(self) -> PlaceReader | None:
        """What reads the cells of pictures and phrases pointed at; None where nothing does."""

    @property
    def concurrent(self) -> bool:
        """Whether pictures may be encoded in several threads at once."""

    def encode_image(self, files: Sequence[PictureSource]) -> EncodedFiles:
        """Embed picture files; a file that cannot be read is an outcome, never an exception."""

    def encode_example(self, files: Sequence[PictureSource]) -> EncodedFiles:
        """Embed picture files to search by: pictures like them are wanted."""

    def encode_text(self, texts: Sequence[str]) -> EmbeddedParts:
        """Embed texts."""

    def encode_narration(self, narrations: Sequence[Narration]) -> EmbeddedParts:
        """Embed texts together with the traces drawn for them."""

    def score(self, texts: EmbeddedParts, images: EmbeddedParts) -> Float32[ndarray, "text image"]:
        """Score embedded texts, or pictures in their place, against embedded pictures."""
