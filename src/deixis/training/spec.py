"""How a model is trained, as a recipe says it."""

from dataclasses import dataclass
from typing import Literal

from deixis.errors import RecipeError


@dataclass(frozen=True)
class TrainSpec:
    """Options of one training round; counts are in steps unless they say epochs."""

    epochs: int = 30
    batch: int = 128
    lr: float = 2e-4
    weight_decay: float = 0.0
    clip: float = 2.0  # global gradient norm
    schedule: Literal["step", "cosine"] = "step"
    decay_epochs: int = 15  # the step schedule multiplies the rate by 0.1 after so many
    warmup: int = 0  # steps of linear warm-up

    def __post_init__(self) -> None:
        for key in ("epochs", "batch", "decay_epochs"):
            if getattr(self, key) < 1:
                raise RecipeError(f"train.{key} is {getattr(self, key)}; it must be at least 1")
