"""Where a model trains, and in what numbers: float32 on a CPU, half precision on a GPU."""

import os
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.optim import Optimizer

from deixis.types import Outputs, map_tensors


def best_device() -> torch.device:
    """The GPU that belongs to this process, or the CPU where there is none."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


@dataclass(frozen=True)
class Precision:
    """Half-precision products on CUDA, their loss scaled so that small gradients survive.

    On a CPU nothing is changed: half precision is slower on most of them, and where it is fast it
    is not the same numbers on the next machine.
    """

    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    scaler: Any = field(init=False)

    def __post_init__(self) -> None:
        scaler = torch.amp.GradScaler(self.device.type, enabled=self.mixed)
        object.__setattr__(self, "scaler", scaler)

    @property
    def mixed(self) -> bool:
        """Whether anything is computed in half precision."""
        return self.device.type == "cuda"

    def products(self) -> torch.autocast:
        """A context in which matrix products run in half precision, where that is on."""
        return torch.autocast(self.device.type, torch.float16, enabled=self.mixed)

    def full(self, out: Outputs) -> Outputs:
        """What the model gave, in the numbers losses are computed in."""
        return map_tensors(out, _widened) if self.mixed else out

    def scaled(self, loss: Float[Tensor, ""]) -> Float[Tensor, ""]:
        """The loss to differentiate."""
        scaled: Tensor = self.scaler.scale(loss)
        return scaled

    def unscale(self, optimiser: Optimizer) -> None:
        """Bring the gradients back to their own size, before they are clipped."""
        self.scaler.unscale_(optimiser)

    def step(self, optimiser: Optimizer) -> None:
        """Take the step, unless a gradient overflowed; then scale less from now on."""
        self.scaler.step(optimiser)
        self.scaler.update()


def _widened(tensor: Tensor) -> Tensor:
    return tensor.float() if tensor.dtype == torch.float16 else tensor
