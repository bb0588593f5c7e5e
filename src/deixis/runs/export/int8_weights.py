"""Weights in eight bits: an integer per weight and a scale per row, a quarter of the bytes."""

from collections.abc import Mapping

import torch
from torch import Tensor

SCALE = ".scale"  # after the name of a matrix; no module is called like a tensor, so none clashes


def shrink(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Round every matrix to 255 steps per row; vectors and numbers stay as they are.

    >>> sorted(shrink({"w": torch.ones(2, 3), "b": torch.ones(2)}))
    ['b', 'w', 'w.scale']
    """
    small: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if tensor.ndim != 2 or not tensor.is_floating_point():
            small[name] = tensor
            continue
        scale = tensor.abs().amax(dim=1).clamp(min=1e-12) / 127
        small[name] = (tensor / scale[:, None]).round().to(torch.int8)
        small[name + SCALE] = scale
    return small


def expand(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Undo ``shrink`` up to the rounding; a state that was never shrunk passes as it is."""
    return {
        name: tensor * state[name + SCALE][:, None] if name + SCALE in state else tensor
        for name, tensor in state.items()
        if name.removesuffix(SCALE) == name or name.removesuffix(SCALE) not in state
    }
