"""Rows ranked for encoded queries, whatever kind of embedding a library holds."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy import ndarray

from deixis.errors import SearchError
from deixis.neighbours.inner_products import InnerProducts
from deixis.neighbours.neighbours import Index, Neighbours
from deixis.search.query.encode_queries import Vectors
from deixis.shapes import Bool, Float32, Int64


@runtime_checkable
class Ranking(Protocol):
    """Ranks the pictures of a library, each named by its first row."""

    sample: int  # how many pictures may be scored to learn what is usual for a query

    def best(
        self, queries: Sequence[Vectors], k: int, allowed: Bool[ndarray, " all"]
    ) -> Neighbours:
        """The k best allowed pictures of each query, or all allowed ones when they are fewer."""

    def scores(self, query: Vectors, rows: Int64[ndarray, " row"]) -> Float32[ndarray, " row"]:
        """The scores of some pictures."""


class SingleRanking:
    """Ranks by the inner product of single vectors."""

    sample = 1024  # quartiles need no more

    def __init__(self, vectors: Float32[ndarray, "row dim"], index: Index) -> None:
        self._vectors, self._index = vectors, index

    def best(
        self, queries: Sequence[Vectors], k: int, allowed: Bool[ndarray, " all"]
    ) -> Neighbours:
        """The k best allowed rows."""
        if any(len(query) != 1 for query in queries):
            raise SearchError("the model gave several vectors for a query; one was expected")
        return self._index.search(np.concatenate(queries), k, allowed)

    def scores(self, query: Vectors, rows: Int64[ndarray, " row"]) -> Float32[ndarray, " row"]:
        """Inner products with some rows."""
        return InnerProducts(self._vectors)(rows, query[0])
