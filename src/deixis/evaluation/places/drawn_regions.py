"""Where the phrases of a split are pointed at: remembered well or badly, scribbled, or wrongly."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from deixis.data.groundings.remembered_places import SIZES, moved_boxes, scribble
from deixis.evaluation.places.pointed_texts import PointedTexts
from deixis.features.places.cell_grid import SIDE
from deixis.features.places.pointed_region import region_of_boxes, region_of_points

Regions = Float32[ndarray, "phrase 81"]
REMEMBERED = 0.05  # standard deviation, in sides of the picture, of a place kept in mind


def remembered(asked: PointedTexts, sigma: float, random: np.random.Generator) -> Regions:
    """Human places moved by a normal step and resized; exact at 0."""
    boxes, mask = _moved(asked, sigma, random)
    return _regions(boxes, mask)


def scribbled(asked: PointedTexts, random: np.random.Generator) -> Regions:
    """A stroke within each phrase's largest box, which was moved before."""
    boxes, _ = _moved(asked, REMEMBERED, random, resize=False)
    largest = boxes[np.arange(len(boxes)), boxes[..., 4].argmax(axis=1)]
    return np.stack([region_of_points(scribble(box, random)) for box in largest])


def mirror_regions(regions: Regions) -> Regions:
    """Regions with left and right exchanged."""
    return regions.reshape(-1, SIDE, SIDE)[:, :, ::-1].reshape(regions.shape)


def of_another(asked: PointedTexts, regions: Regions, random: np.random.Generator) -> Regions:
    """Each phrase at the place of a phrase of some other image."""
    images = asked.images[asked.owners]
    other = random.integers(len(regions), size=len(regions))
    while (same := images[other] == images).any() and len(set(images.tolist())) > 1:
        other[same] = random.integers(len(regions), size=int(same.sum()))
    return regions[other]


def swapped(asked: PointedTexts, regions: Regions) -> Regions:
    """The places of each text's phrases handed on to the next phrase, the last to the first."""
    order = np.arange(len(regions))
    for a, b in zip(asked.offsets, asked.offsets[1:], strict=False):
        order[a:b] = np.roll(order[a:b], 1)
    return regions[order]


def _moved(
    asked: PointedTexts, sigma: float, random: np.random.Generator, *, resize: bool = True
) -> tuple[Float32[ndarray, "phrase box 5"], ndarray]:
    boxes, mask = asked.boxes()
    if not sigma:
        return boxes, mask
    moves = random.normal(0.0, sigma, (len(boxes), 2))
    sizes = np.exp(random.normal(0.0, SIZES, len(boxes))) if resize else np.ones(len(boxes))
    return np.where(mask[..., None], moved_boxes(boxes, mask, moves, sizes), 0.0), mask


def _regions(boxes: Float32[ndarray, "phrase box 5"], mask: ndarray) -> Regions:
    return np.stack([region_of_boxes(own[real]) for own, real in zip(boxes, mask, strict=True)])


Draw = Callable[[PointedTexts, np.random.Generator], Regions]
DRAWN: Mapping[str, Draw] = {
    **{
        f"σ = {s:g}": partial(lambda a, r, s: remembered(a, s, r), s=s)
        for s in (0.0, 0.05, 0.1, 0.2)
    },
    "scribble": scribbled,
}


def drawn_regions(asked: PointedTexts, seed: int = 0) -> dict[str, Regions]:
    """Every way to point, by its name; the same seed draws the same places."""
    streams = np.random.default_rng(seed).spawn(len(DRAWN) + 1)
    found = {name: draw(asked, streams[i]) for i, (name, draw) in enumerate(DRAWN.items())}
    right = found[f"σ = {REMEMBERED:g}"]
    return found | {
        "mirrored places": mirror_regions(right),
        "another query's places": of_another(asked, right, streams[-1]),
        "swapped places": swapped(asked, right),
    }
