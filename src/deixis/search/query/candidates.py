"""The candidates of a query: pictures of one library, or of many shards of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from numpy import ndarray

from deixis.search.library.pictures.fingerprint import Fingerprint
from deixis.search.query.encode_queries import EncodedQuery, Vectors
from deixis.search.query.filters import Filter
from deixis.shapes import Float32, Int64


@dataclass(frozen=True, slots=True)
class Candidate:
    """A picture with all that a hit shows of it."""

    score: float
    order: tuple[int, int]  # shard and row: of equal scores the lower comes first
    id: str
    paths: tuple[str, ...]
    look: Fingerprint | None = None
    text_score: float | None = None  # by the text alone, when strokes were drawn


@dataclass(frozen=True, slots=True)
class Candidates:
    """The best pictures for one query, and out of how many."""

    best: tuple[Candidate, ...]
    allowed: int  # pictures that passed the filter
    coverage: tuple[int, int] | None = None  # of shards: pictures that were asked, and of how many
    unplaced: int = 0  # recalled by the text, without cells to tell what is where
    text_order: tuple[str, ...] = ()  # ids by the text alone, where places ordered them again


@runtime_checkable
class CandidateSource(Protocol):
    """Pictures that can be ranked for encoded queries."""

    @property
    def size(self) -> int:
        """How many pictures there are."""

    @property
    def sample(self) -> int:
        """How many of them may be scored to learn what is usual for a query."""

    def best(self, asked: Sequence[EncodedQuery], k: int, where: Filter | None) -> list[Candidates]:
        """The k best pictures of each query that pass the filter."""

    def scores_at(
        self, asked: Sequence[Vectors], places: Int64[ndarray, " place"]
    ) -> Float32[ndarray, "query place"]:
        """The scores of the pictures at some places, counted in the order of rows."""

    def rank(self, asked: EncodedQuery, id: str) -> int | None:
        """The place of a picture among all, best first; None where ranking all is expensive."""
