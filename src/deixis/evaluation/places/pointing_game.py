"""The pointing game: how often the peak of a phrase's map lies in the human box."""

import numpy as np
from jaxtyping import Bool, Float, Float32
from numpy import ndarray

from deixis.evaluation.places.pointed_texts import PointedTexts
from deixis.features.places.cell_grid import SIDE
from deixis.features.places.phrase_map import peaks, shown_maps
from deixis.similarity.places.place_score import PlaceScore

OFF_CENTRE = 0.1  # sides of the picture between a place and the middle, for twins to differ


def own_maps(
    asked: PointedTexts,
    cells: Float32[ndarray, "image cell dim"],
    phrases: Float32[ndarray, "phrase dim"],
) -> Float32[ndarray, "phrase cell"]:
    """The map of every phrase over its own picture."""
    images = asked.images[asked.owners]
    maps = np.empty((len(phrases), cells.shape[1]), np.float32)
    for image in np.unique(images):
        rows = images == image
        maps[rows] = phrases[rows] @ cells[image].T
    return maps


def pointing_game(asked: PointedTexts, maps: Float[ndarray, "phrase cell"]) -> dict[str, float]:
    """Percent of phrases whose peak lies in a human box: all, by type, and what guesses reach.

    The peak is that of the map as it is shown.
    """
    points = peaks(shown_maps(maps))
    hit = within(asked, points)
    kinds = np.array([phrase.types[0] if phrase.types else "other" for phrase in asked.phrases])
    middle = within(asked, np.full_like(points, 0.5))
    lines = (np.arange(SIDE) + 0.5) / SIDE
    grid = np.stack(np.meshgrid(lines, lines), axis=-1).reshape(-1, 2)
    anywhere = np.mean([within(asked, np.tile(one, (len(points), 1))).mean() for one in grid])
    shares = {"all": hit.mean(), "centre": middle.mean(), "random": anywhere}
    shares |= {kind: hit[kinds == kind].mean() for kind in sorted(set(kinds.tolist()))}
    return {name: float(100.0 * share) for name, share in shares.items()}


def within(asked: PointedTexts, points: Float[ndarray, "phrase 2"]) -> Bool[ndarray, " phrase"]:
    """Whether a point is inside one of its phrase's boxes."""
    boxes, mask = asked.boxes()
    x, y = points[:, :1], points[:, 1:]
    inside = (
        (boxes[..., 0] <= x) & (x <= boxes[..., 1]) & (boxes[..., 2] <= y) & (y <= boxes[..., 3])
    )
    return (inside & mask).any(axis=1)


def mirrored_twins(asked: PointedTexts, gains: Float[ndarray, " phrase"]) -> dict[str, float]:
    """Percent of phrases off centre, and of texts with one, that prefer a picture to its mirror.

    ``gains`` say by how much each phrase does; the gains of a text's phrases add up.
    """
    boxes, mask = asked.boxes()
    left = np.where(mask, boxes[..., 0], np.inf).min(axis=1)
    right = np.where(mask, boxes[..., 1], -np.inf).max(axis=1)
    off = np.abs((left + right) / 2 - 0.5) >= OFF_CENTRE
    if not off.any():
        return {}
    whole = np.bincount(asked.owners, gains, len(asked))
    some = np.bincount(asked.owners, off, len(asked)) > 0
    shares = {"phrase": (gains[off] > 0).mean(), "text": (whole[some] > 0).mean()}
    return {name: float(100.0 * share) for name, share in shares.items()}


def mean_gains(
    maps: Float[ndarray, "phrase cell"], regions: Float[ndarray, "phrase cell"]
) -> Float[ndarray, " phrase"]:
    """How much higher the mean of each map under its region is than that of the map mirrored."""
    return ((maps - _turned(maps)) * regions).sum(axis=1)


def score_gains(
    maps: Float[ndarray, "phrase cell"], regions: Float[ndarray, "phrase cell"], score: PlaceScore
) -> Float[ndarray, " phrase"]:
    """How much higher each phrase ranks its picture than the mirror image of that picture.

    The map over the mirror image is the mirror image of the map, and the text score is the same.
    """
    own, other = score.of_maps(np.stack([maps, _turned(maps)]), regions)
    return own - other


def _turned(maps: Float[ndarray, "phrase cell"]) -> Float[ndarray, "phrase cell"]:
    return maps.reshape(-1, SIDE, SIDE)[:, :, ::-1].reshape(maps.shape)
