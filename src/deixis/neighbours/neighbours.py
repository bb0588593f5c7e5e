"""The interface of engines that find the nearest rows of a query vector."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from numpy import ndarray

from deixis.shapes import Bool, Float32, Int64


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The best rows of each query: higher score first, of equal scores the lower row first."""

    rows: Int64[ndarray, "query k"]
    scores: Float32[ndarray, "query k"]


@runtime_checkable
class Index(Protocol):
    """Finds the rows with the largest inner product; the library owns the vectors themselves."""

    def search(
        self, queries: Float32[ndarray, "query dim"], k: int, allowed: Bool[ndarray, " row"]
    ) -> Neighbours:
        """The k best allowed rows of each query, or all allowed ones when they are fewer."""
