"""Backgrounds of scenes: gradients with texture, easy to distinguish."""

from functools import cache

import numpy as np
from jaxtyping import Float, UInt8
from numpy import ndarray

Picture = Float[ndarray, "side side 3"]

# Sky or wall above, ground below: the colours at top, horizon, horizon again and bottom.
_GRADIENTS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "beach": ((150, 205, 240), (215, 238, 250), (238, 216, 160), (222, 190, 128)),
    "desert": ((250, 190, 120), (255, 226, 170), (216, 150, 84), (190, 118, 60)),
    "meadow": ((120, 185, 240), (205, 230, 250), (150, 200, 100), (96, 160, 66)),
    "night": ((14, 18, 52), (40, 48, 98), (30, 40, 52), (18, 24, 34)),
    "room": ((222, 206, 186), (232, 218, 200), (170, 120, 80), (138, 92, 58)),
    "snow": ((190, 204, 220), (222, 230, 240), (240, 244, 250), (214, 224, 238)),
}

BACKGROUNDS = tuple(_GRADIENTS)


def paint_background(
    kind: str, side: int, rng: np.random.Generator
) -> UInt8[ndarray, "side side 3"]:
    """Paint a ground of a kind; horizon, shade and texture vary."""
    horizon = int(side * rng.uniform(0.38, 0.58))
    column = _gradient(kind, side, horizon) + rng.uniform(-5, 5, size=3).astype(np.float32)
    down, right = rng.integers(0, side, size=2)
    picture = column[:, None] + _grain(side)[down : down + side, right : right + side]
    _DETAILS[kind](picture, horizon, rng)
    return np.clip(picture, 0, 255, out=picture).astype(np.uint8)


def _gradient(kind: str, side: int, horizon: int) -> Float[ndarray, "side 3"]:
    top, far, near, bottom = (np.array(c, dtype=np.float32) for c in _GRADIENTS[kind])
    above = np.linspace(0, 1, horizon, dtype=np.float32)[:, None]
    below = np.linspace(0, 1, side - horizon, dtype=np.float32)[:, None]
    return np.concatenate([top + (far - top) * above, near + (bottom - near) * below])


@cache
def _grain(side: int) -> Float[ndarray, "twice_side twice_side 1"]:
    """One fixed texture, coarse and fine, of twice the side; a picture shows a window of it."""
    rng = np.random.default_rng(0)
    coarse = rng.normal(0, 2.5, size=(side // 4, side // 4)).repeat(8, axis=0).repeat(8, axis=1)
    coarse = (coarse + np.roll(coarse, 4, axis=0) + np.roll(coarse, 4, axis=1)) / 2
    fine = rng.normal(0, 3, size=(2 * side, 2 * side))
    return (coarse + fine)[:, :, None].astype(np.float32)


def _beach(picture: Picture, horizon: int, rng: np.random.Generator) -> None:
    sea = horizon - int(rng.uniform(0.08, 0.16) * len(picture))
    picture[sea:horizon] = picture[sea:horizon] * 0.25 + np.array([36, 112, 158], dtype=np.float32)
    picture[horizon - 2 : horizon + 1] = 245


def _desert(picture: Picture, horizon: int, rng: np.random.Generator) -> None:
    columns = np.arange(len(picture))
    for depth in (0.12, 0.3, 0.5):
        wave = 7 * np.sin(columns / rng.uniform(14, 26) + rng.uniform(0, 6))
        rows = horizon + int(depth * (len(picture) - horizon)) + wave.astype(np.int64)
        for thick in range(3):
            picture[np.clip(rows + thick, 0, len(picture) - 1), columns] *= 0.86


def _meadow(picture: Picture, horizon: int, rng: np.random.Generator) -> None:
    side = len(picture)
    rows = rng.integers(horizon, side - 6, size=260)
    columns = rng.integers(0, side, size=260)
    for height in range(6):
        picture[rows + height, columns] *= np.array([0.74, 0.86, 0.74], dtype=np.float32)


def _night(picture: Picture, horizon: int, rng: np.random.Generator) -> None:
    rows = rng.integers(0, horizon, size=50)
    columns = rng.integers(0, len(picture), size=50)
    picture[rows, columns] = rng.uniform(150, 255, size=(50, 1))


def _room(picture: Picture, horizon: int, rng: np.random.Generator) -> None:
    side = len(picture)
    stripe = int(rng.integers(12, 22))
    picture[:horizon, np.arange(side) // stripe % 2 == 0] *= 0.94
    picture[horizon - 5 : horizon] = 246
    for row in range(horizon + 9, side, 18):
        picture[row : row + 2] *= 0.8


def _snow(picture: Picture, horizon: int, rng: np.random.Generator) -> None:
    rows = rng.integers(0, len(picture) - 1, size=150)
    columns = rng.integers(0, len(picture) - 1, size=150)
    for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
        picture[rows + down, columns + right] = 255
    picture[horizon : horizon + 2] -= 14


_DETAILS = {
    "beach": _beach,
    "desert": _desert,
    "meadow": _meadow,
    "night": _night,
    "room": _room,
    "snow": _snow,
}
