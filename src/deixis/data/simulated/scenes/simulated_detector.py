"""A simulated detector: regions whose vectors encode noun and colour under noise."""

from functools import cache

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.data.simulated.scenes.backgrounds import BACKGROUNDS
from deixis.data.simulated.scenes.objects import COLOURS, NOUNS
from deixis.data.simulated.scenes.scene import Scene, Thing

WIDTH = 64  # of a region's vector
_NOISE = 0.35
_JITTER = 0.012  # of a box's edges
_CLUTTER = (3, 6)  # least and most regions that show nothing

Detected = tuple[Float[ndarray, "region feature"], Float[ndarray, "region 5"]]


def detect(scene: Scene, rng: np.random.Generator) -> Detected:
    """Regions of a scene in random order: its things, clutter, and the picture as a whole."""
    meanings = _meanings()
    values = [meanings[thing.noun] + meanings[thing.colour] for thing in scene.things]
    edges = [_jittered(thing, rng) for thing in scene.things]
    for _ in range(rng.integers(_CLUTTER[0], _CLUTTER[1] + 1)):
        values.append(rng.normal(0, 1, size=WIDTH))
        edges.append(_anywhere(rng))
    values.append(meanings[scene.background])
    edges.append(np.array([0.0, 1.0, 0.0, 1.0]))
    order = rng.permutation(len(values))
    noisy = np.stack(values) + rng.normal(0, _NOISE, size=(len(values), WIDTH))
    return noisy[order].astype(np.float16), _with_area(np.stack(edges))[order]


@cache
def _meanings() -> dict[str, Float[ndarray, " feature"]]:
    """The fixed vector of every noun, colour and ground; the same for every corpus and seed."""
    names = (*NOUNS, *COLOURS, *BACKGROUNDS)
    vectors = np.random.default_rng(64).normal(0, 1, size=(len(names), WIDTH))
    return dict(zip(names, vectors, strict=True))


def _jittered(thing: Thing, rng: np.random.Generator) -> Float[ndarray, " 4"]:
    return np.clip(np.array(thing.box[:4]) + rng.normal(0, _JITTER, size=4), 0, 1)


def _anywhere(rng: np.random.Generator) -> Float[ndarray, " 4"]:
    wide, high = rng.uniform(0.1, 0.5, size=2)
    x, y = rng.uniform(0, 1 - wide), rng.uniform(0, 1 - high)
    return np.array([x, x + wide, y, y + high])


def _with_area(edges: Float[ndarray, "region 4"]) -> Float[ndarray, "region 5"]:
    area = (edges[:, 1] - edges[:, 0]) * (edges[:, 3] - edges[:, 2])
    return np.column_stack([edges, area]).astype(np.float32)
