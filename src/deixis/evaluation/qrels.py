"""Which items answer which query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray

from deixis.errors import EvaluationError


@dataclass(frozen=True)
class Qrels:
    """The positives of each query, as pairs sorted by query and item.

    Queries without a positive in the gallery are no queries: they are left out, so the number of
    queries stands beside every mean. ``sizes`` counts every known positive, those the gallery
    lacks too: what cannot be found is a miss, not a reason to forget it.
    """

    queries: Int[ndarray, " query"]  # rows of the score matrix that ask, ascending
    owners: Int[ndarray, " pair"]  # place of the pair's query in ``queries``
    items: Int[ndarray, " pair"]  # column of the score matrix
    sizes: Int[ndarray, " query"]

    @classmethod
    def of_pairs(cls, pairs: Int[ndarray, "pair 2"]) -> "Qrels":
        """From (query, item) pairs in any order; a pair given twice counts once."""
        if not len(pairs):
            raise EvaluationError("no query has a matching item; give at least one pair")
        unique = np.unique(pairs.astype(np.int64), axis=0)
        queries, owners = np.unique(unique[:, 0], return_inverse=True)
        return cls(queries, owners, unique[:, 1], np.bincount(owners))

    @classmethod
    def of_mask(cls, positives: Bool[ndarray, "query item"]) -> "Qrels":
        """From a full mask."""
        return cls.of_pairs(np.argwhere(positives))

    @classmethod
    def of_ids(
        cls,
        relevant: Mapping[int, Sequence[int]],
        query_ids: Int[ndarray, " query"],
        item_ids: Int[ndarray, " item"],
    ) -> "Qrels":
        """From ids, as published judgements come; a query outside the matrix is an error."""
        rows, columns = _places(query_ids), _places(item_ids)
        unknown = [query for query in relevant if query not in rows]
        if unknown:
            raise EvaluationError(f"query {unknown[0]} is not scored ({len(unknown)} such)")
        wanted = {rows[query]: set(items) for query, items in relevant.items()}
        found = [(q, columns[i]) for q, items in wanted.items() for i in items if i in columns]
        qrels = cls.of_pairs(np.array(found, dtype=np.int64).reshape(-1, 2))
        sizes = np.array([len(wanted[query]) for query in qrels.queries.tolist()])
        return cls(qrels.queries, qrels.owners, qrels.items, sizes)

    @cached_property
    def starts(self) -> Int[ndarray, " query"]:
        """Where each query's pairs begin."""
        return np.searchsorted(self.owners, np.arange(len(self.queries)))

    @cached_property
    def ordinals(self) -> Int[ndarray, " pair"]:
        """1, 2, 3 … within each query."""
        return np.arange(len(self.owners)) - self.starts[self.owners] + 1


def _places(ids: Int[ndarray, " item"]) -> dict[int, int]:
    places = {int(identity): place for place, identity in enumerate(ids)}
    if len(places) != len(ids):
        raise EvaluationError(f"{len(ids) - len(places)} ids stand twice in the gallery")
    return places
