"""Estimated scores of a block of rows, and how far each can be from the truth."""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from deixis.shapes import Float32, Float64, Int64

STRIP = 2**17  # values compared at once: a larger answer would take new memory every time


@dataclass(frozen=True, slots=True)
class Reaching:
    """Some estimates of a block: their queries, rows and values; by queries, then by rows."""

    query: Int64[ndarray, " found"]
    row: Int64[ndarray, " found"]
    value: Float32[ndarray, " found"]

    def chosen(self, places: Int64[ndarray, " some"]) -> "Reaching":
        """Some of them."""
        return Reaching(self.query[places], self.row[places], self.value[places])


@dataclass(frozen=True, slots=True)
class Bounds:
    """What values of a block stand for: scores of ``scale * value + shift`` per query.

    The score of query q and row x, also once it is rounded to float32, is at most
    ``reach[q] * errors[x] + slack[q]`` away from that.
    """

    scale: Float64[ndarray, " query"]
    shift: Float64[ndarray, " query"]
    reach: Float64[ndarray, " query"]
    errors: Float32[ndarray, " row"]
    largest_error: float
    slack: Float64[ndarray, " query"]

    @property
    def margin(self) -> Float64[ndarray, " query"]:
        """The largest error that any estimate of a query can have."""
        return self.reach * self.largest_error + self.slack

    def bar(self, floor: Float64[ndarray, " query"]) -> Float32[ndarray, " query"]:
        """The value below which no score can reach the floor."""
        with np.errstate(over="ignore"):  # a bar beyond float32 is one that nothing reaches
            bar = ((floor - self.margin - self.shift) / self.scale).astype(np.float32)
        return np.nextafter(bar, np.float32(-np.inf))

    def least(
        self, values: Float32[ndarray, "query some"], doubt: float
    ) -> Float64[ndarray, "query some"]:
        """What rows of such values score at least, if errors are within a share of the largest."""
        shift = self.shift - doubt * self.margin
        return np.asarray(self.scale[:, None] * values + shift[:, None])

    def most(self, found: Reaching) -> Float64[ndarray, " found"]:
        """The most that each pair can score."""
        query = found.query
        most = self.scale[query] * found.value + self.shift[query]
        most += self.reach[query] * self.errors[found.row] + self.slack[query]
        return np.asarray(most)


@dataclass(frozen=True, slots=True)
class Estimates:
    """Estimated scores of a block of rows."""

    values: Float32[ndarray, "query row"]
    bounds: Bounds

    def largest(self, group: int, k: int) -> Float32[ndarray, "query some"]:
        """The k largest values of each query, at most one of each group; all if there are fewer.

        Rows of a group are far apart.
        """
        count, rows = self.values.shape
        whole = rows - rows % group
        best = self.values[:, :whole].reshape(count, group, -1).max(axis=1)
        best = np.concatenate([best, self.values[:, whole:]], axis=1)
        return np.partition(best, -k, axis=1)[:, -k:] if best.shape[1] > k else best

    def reaching(self, bar: Float32[ndarray, " query"]) -> Reaching:
        """Wherever a value reaches the bar of its query and is not minus infinity."""
        count, rows = self.values.shape
        step, found = max(1, STRIP // rows), []
        for start in range(0, count, step):
            some, least = self.values[start : start + step], bar[start : start + step, None]
            above = some >= least
            if np.isneginf(least).any():  # then rows that are not allowed reach it as well
                above &= some > -np.inf
            found.append(np.flatnonzero(above) + start * rows)
        places = np.concatenate(found)
        query = places // rows if count > 1 else np.zeros_like(places)
        return Reaching(query, places - query * rows, self.values.ravel()[places])
