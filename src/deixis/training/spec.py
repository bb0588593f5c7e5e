"""How a model is trained: the train table of a recipe."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from deixis.errors import RecipeError

Duration = int | str  # steps, or epochs as in "15 epochs"

# What a number may be at least and at most; a NaN is neither.
BOUNDS: tuple[tuple[str, float, float], ...] = (
    ("texts_per_image", 0, math.inf),
    ("drop_regions", 0, 1),
    ("drop_words", 0, 1),
    ("mask", 0, 1),
    ("crop", 0, 1),
    ("chunk", 0, math.inf),
    ("lr", 0, math.inf),
    ("weight_decay", 0, math.inf),
    ("clip", 0, math.inf),
    ("decay", 0, math.inf),
)


@dataclass(frozen=True)
class TrainSpec:
    """Options of one round of training.

    >>> TrainSpec(length="10 epochs", batch=64, lr=1e-3).schedule
    'step'
    """

    length: Duration = "30 epochs"
    batch: int = 128  # pairs, or images with their texts
    batching: Literal["pairs", "images", "twins"] = "pairs"  # twins: their groups stay together
    texts_per_image: int = 0  # with batching = "images"; 0 takes all of them
    also_untraced: bool = False  # narrations come a second time without their trace
    drop_regions: float = 0.0  # share of regions left out of an image at a step
    drop_words: float = 0.0  # share of words touched in a text at a step
    mask: float = 0.0  # share of regions and words masked, for methods that predict them
    crop: float = 0.0  # least share of a picture that random crops keep, for towers in training
    jitter: float = 0.0  # most a place is moved at a step, as a deviation in sides of the picture
    chunk: int = 0  # items encoded at once, when the batch is larger than memory; 0: all
    optimiser: Literal["adam", "adamw", "sgd"] = "adamw"
    lr: float = 2e-4
    weight_decay: float = 0.0
    clip: float = 2.0  # largest gradient norm over all parameters
    rates: Mapping[str, float] = field(default_factory=dict)  # parameter prefix → rate factor
    frozen: Mapping[str, Duration] = field(default_factory=dict)  # parameter prefix → until when
    schedule: Literal["constant", "step", "cosine"] = "step"
    decay: float = 0.1  # the step schedule multiplies the rate by it …
    decay_every: Duration = "15 epochs"  # … this often
    warmup: Duration = 0  # linear, from zero
    validate_every: Duration = "1 epochs"

    def __post_init__(self) -> None:
        for name in ("length", "decay_every", "warmup", "validate_every"):
            steps_in(getattr(self, name), 1, f"train.{name}")
        for prefix, until in self.frozen.items():
            steps_in(until, 1, f"train.frozen.{prefix}")
        if steps_in(self.length, 1_000_000, "train.length") < 1:
            raise RecipeError(f"train.length is {self.length!r}; train for at least one step")
        for key, least, most in BOUNDS:
            value = getattr(self, key)
            if not least <= value <= most or not math.isfinite(value):
                upper = "" if most == math.inf else f" and at most {most:g}"
                raise RecipeError(f"train.{key} is {value}; give at least {least:g}{upper}")
        for key, above_zero in (("lr", self.lr), ("clip", self.clip)):
            if above_zero == 0:
                raise RecipeError(f"train.{key} is 0; nothing would be learnt")
        for prefix, factor in self.rates.items():
            if not 0 <= factor < math.inf:
                raise RecipeError(f"train.rates.{prefix} is {factor}; give 0 or more")
        if self.batch < 2:
            raise RecipeError(f"train.batch is {self.batch}; use at least 2")


def steps_in(duration: Duration, steps_per_epoch: int, key: str = "duration") -> int:
    """Steps of a duration.

    >>> steps_in(70, 100), steps_in("1.5 epochs", 100)
    (70, 150)
    """
    if isinstance(duration, int):
        if duration < 0:
            raise RecipeError(f"{key} is {duration}; steps are counted from 0")
        return duration
    found = re.fullmatch(r"(\d{1,9}(?:\.\d+)?) epochs?", duration.strip())
    if not found:
        raise RecipeError(f"{key} is '{duration}'; write steps as 500 or epochs as \"15 epochs\"")
    return round(float(found[1]) * steps_per_epoch)
