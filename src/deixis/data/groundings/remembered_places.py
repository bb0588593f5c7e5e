"""Places as a person might draw them from memory: moved, resized, scribbled. A simulated hand."""

import numpy as np
from jaxtyping import Bool, Float, Float32
from numpy import ndarray

SIZES = 0.3  # standard deviation of the logarithm of a remembered size
POINTS = 24  # of a scribble


def moved_boxes(
    boxes: Float[ndarray, "text box 5"],
    mask: Bool[ndarray, "text box"],
    moves: Float[ndarray, "text 2"],
    sizes: Float[ndarray, " text"],
) -> Float32[ndarray, "text box 5"]:
    """The boxes of each text, resized about the centre of their union and moved together.

    A person remembers a group of things as one place. Boxes may leave the picture.
    """
    out = np.array(boxes, dtype=np.float32)
    for axis in (0, 1):
        first, last = boxes[..., 2 * axis], boxes[..., 2 * axis + 1]
        left = np.where(mask, first, np.inf).min(axis=1, initial=np.inf)
        right = np.where(mask, last, -np.inf).max(axis=1, initial=-np.inf)
        some = mask.any(axis=1)
        centre = (
            np.where(some, np.where(some, left, 0.0) + np.where(some, right, 0.0), 0.0)[:, None] / 2
        )
        for edge in (2 * axis, 2 * axis + 1):
            moved = (boxes[..., edge] - centre) * sizes[:, None] + centre
            out[..., edge] = moved + moves[:, axis : axis + 1]
    out[..., 4] = (out[..., 1] - out[..., 0]) * (out[..., 3] - out[..., 2])
    return out


def scribble(
    box: Float[ndarray, " edge"], random: np.random.Generator
) -> Float[ndarray, "point 2"]:
    """A stroke within a box: a cubic Bézier curve through four random points of it."""
    x, y = random.uniform(box[0], box[1], 4), random.uniform(box[2], box[3], 4)
    t = np.linspace(0.0, 1.0, POINTS)[:, None]
    curve = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3]
    return np.concatenate(curve, axis=1) @ np.stack([x, y], axis=1)
