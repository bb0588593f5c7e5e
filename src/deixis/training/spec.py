"""How a model is trained, as a recipe says it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from deixis.errors import RecipeError

Duration = int | str  # steps, or epochs as in "15 epochs"


@dataclass(frozen=True)
class TrainSpec:
    """Options of one round of training."""

    length: Duration = "30 epochs"
    batch: int = 128  # pairs, or images with their texts
    batching: Literal["pairs", "images", "twins"] = "pairs"  # twins: their groups stay together
    texts_an_image: int = 0  # with batching = "images"; 0 takes all of them
    also_bare: bool = False  # narrations come a second time without their trace
    drop_regions: float = 0.0  # share of regions left out of an image at a step
    drop_words: float = 0.0  # share of words touched in a text at a step
    hide: float = 0.0  # share of regions and words hidden, for methods that must tell them
    crop: float = 0.0  # least share of a picture that random crops keep, for towers in training
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
    patience: int = 0  # validations without a better one before it stops; 0: never

    def __post_init__(self) -> None:
        for name in ("length", "decay_every", "warmup", "validate_every"):
            steps_in(getattr(self, name), 1, f"train.{name}")
        for prefix, until in self.frozen.items():
            steps_in(until, 1, f"train.frozen.{prefix}")
        if self.batch < 2:
            raise RecipeError(f"train.batch is {self.batch}; a pair needs another to lose against")


def steps_in(duration: Duration, steps_an_epoch: int, key: str = "duration") -> int:
    """Steps of a duration.

    >>> steps_in(70, 100), steps_in("1.5 epochs", 100)
    (70, 150)
    """
    if isinstance(duration, int):
        return duration
    found = re.fullmatch(r"(\d+(?:\.\d+)?) epochs?", duration.strip())
    if not found:
        raise RecipeError(f"{key} is '{duration}'; write steps as 500 or epochs as \"15 epochs\"")
    return round(float(found[1]) * steps_an_epoch)
