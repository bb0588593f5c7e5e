"""Where a run stands, on disk: written whole or not at all, read without unpickling."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer


@dataclass(frozen=True)
class Standing:
    """How far a run has come."""

    step: int = 0  # steps taken
    best: float = float("-inf")  # best validation score so far
    best_step: int = 0
    since_best: int = 0  # validations since the best one
    scaling: Mapping[str, float] = field(default_factory=dict)  # of the loss, in half precision


def save(
    path: Path, model: nn.Module, objective: nn.Module, optimiser: Optimizer, standing: Standing
) -> None:
    """Write model, objective, optimiser and standing into one file, atomically."""
    tensors = {f"model.{key}": value for key, value in model.state_dict().items()}
    tensors |= {f"objective.{key}": value for key, value in objective.state_dict().items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{number}.{key}": torch.as_tensor(v) for key, v in state.items()}
    write_tensors(path, tensors, {"standing": json.dumps(asdict(standing))})


def restore(path: Path, model: nn.Module, objective: nn.Module, optimiser: Optimizer) -> Standing:
    """Read what ``save`` wrote back into a model, objective and optimiser of the same shape."""
    tensors, metadata = read_tensors(path)
    model.load_state_dict(_under("model.", tensors))
    objective.load_state_dict(_under("objective.", tensors))
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in _under("optimiser.", tensors).items():
        number, name = key.split(".", 1)
        state.setdefault(int(number), {})[name] = value
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": state, "param_groups": groups})
    return Standing(**json.loads(metadata["standing"]))


def write_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    """Write a safetensors file under a temporary name, then move it into place."""
    beside = path.with_name(path.name + ".part")
    copies = {key: value.detach().cpu().contiguous().clone() for key, value in tensors.items()}
    save_file(copies, beside, metadata)
    os.replace(beside, path)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read a safetensors file and its metadata."""
    with safe_open(path, framework="pt") as file:
        return {key: file.get_tensor(key) for key in file.keys()}, file.metadata() or {}  # noqa: SIM118


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key[len(prefix) :]: value for key, value in tensors.items() if key.startswith(prefix)}
