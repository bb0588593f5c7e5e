"""How well a picture shows a phrase's thing where a person points; numpy, for search.

The same formula with gradients is ``similarity.places.place_map``; a test holds the two equal.
"""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from deixis.shapes import Float, Float32
from deixis.similarity.places.moved_regions import log_chances, moved_regions

PICTURES = 512  # scored at once: their maps stay in a processor's cache


@dataclass(frozen=True, slots=True)
class PlaceScore:
    """The score of a phrase at a region, added to a text score divided by ``temperature``.

    *Formula*: with s the phrase's map over a picture's cells, ``in`` its mean under the region and
    ``L = log mean exp s``: ``ℓ = w (in − d L)``, ``c = w (1 − d) L`` and
    ``score = log(E exp(ℓ − c) + floor) + c``, E the mean over moves of the region by a cell, as
    likely as a normal error of memory makes them. The floor is what a badly remembered place costs
    at most: without it a wrong place ranks below the text alone.
    """

    weight: float = 2.5  # w
    discount: float = 0.75  # d: how much of the phrase's presence anywhere is taken off
    floor: float = 0.1
    spread: float = 0.6  # of the error of memory, in cells; 0: regions stay where they are
    temperature: float = 0.05  # of the text score it is added to

    def __call__(
        self,
        cells: Float[ndarray, "picture cell dim"],
        phrases: Float[ndarray, "phrase dim"],
        regions: Float[ndarray, "phrase cell"],
    ) -> Float32[ndarray, "picture phrase"]:
        """Score every picture with every phrase at its region; phrases without one score 0."""
        scores = np.zeros((len(cells), len(phrases)), np.float32)
        pointed = regions.any(axis=1)
        for start in range(0, len(cells), PICTURES):
            some = cells[start : start + PICTURES]
            maps = place_maps(some, phrases[pointed])
            scores[start : start + PICTURES, pointed] = self.of_maps(maps, regions[pointed])
        return scores

    def of_maps(
        self, maps: Float[ndarray, "picture phrase cell"], regions: Float[ndarray, "phrase cell"]
    ) -> Float[ndarray, "picture phrase"]:
        """The score of each map at its phrase's region, which must not be empty."""
        return self.of(self.inside(maps, regions), log_mean_exp(maps))

    def inside(
        self, maps: Float[ndarray, "picture phrase cell"], regions: Float[ndarray, "phrase cell"]
    ) -> Float[ndarray, "phrase move picture"]:
        """The mean of each map under its phrase's region, for every move of the region."""
        under = moved_regions(regions) if self.spread else regions[:, None]
        # A product per map: in one of all pictures, rounding would depend on which are together,
        # and a library in shards would not give the scores of a whole one.
        means = maps[:, :, None] @ under.transpose(0, 2, 1)
        return np.ascontiguousarray(means[:, :, 0].transpose(1, 2, 0))

    def of(
        self,
        inside: Float[ndarray, "phrase move picture"],
        overall: Float[ndarray, "picture phrase"],
    ) -> Float[ndarray, "picture phrase"]:
        """The score from maps' means under their regions and their log mean exp."""
        share = self.weight * (1.0 - self.discount) * overall
        each = self.weight * inside
        if self.spread:
            each += log_chances(self.spread)[:, None]
        top = each.max(axis=1)
        found = top + np.log(np.exp(each - top[:, None]).sum(axis=1))
        found = found.T - self.weight * self.discount * overall
        return np.logaddexp(found - share, np.log(self.floor)) + share


def place_maps(
    cells: Float[ndarray, "picture cell dim"], phrases: Float[ndarray, "phrase dim"]
) -> Float[ndarray, "picture phrase cell"]:
    """Where in each picture each phrase is found, as a number per cell."""
    picture, cell, dim = cells.shape
    flat = cells.reshape(-1, dim) @ phrases.T
    return flat.reshape(picture, cell, len(phrases)).transpose(0, 2, 1)


def log_mean_exp(maps: Float[ndarray, "*pair cell"]) -> Float[ndarray, "*pair"]:
    """The logarithm of the mean of the exponentials, without overflow."""
    top = maps.max(axis=-1)
    mean: Float[ndarray, "*pair"] = np.exp(maps - top[..., None]).mean(axis=-1)
    return top + np.log(mean)
