"""Checkpoints of a training run: written whole or not at all, read without unpickling.

A checkpoint is read back and compared before it takes the place of the one before it, and that one
stays beside it: whatever moment the power fails at, there is one to resume from.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from deixis.errors import RunError
from deixis.files import replacing, sync

NOTES = "deixis"  # the one key of the metadata: safetensors writes several in any order
DIGEST = "sha256"  # of the tensors, among the notes


@dataclass(frozen=True)
class TrainingState:
    """How far a run has come."""

    step: int = 0  # steps taken
    best: float = float("-inf")  # best validation score so far
    best_step: int = 0
    scaling: Mapping[str, float] = field(default_factory=dict)  # of the loss, in half precision


def save(
    path: Path,
    model: nn.Module,
    objective: nn.Module,
    optimiser: Optimizer,
    standing: TrainingState,
    before: Path | None = None,
) -> None:
    """Write model, objective, optimiser and standing; the checkpoint before stays as ``before``."""
    tensors = {f"model.{key}": value for key, value in model.state_dict().items()}
    tensors |= {f"objective.{key}": value for key, value in objective.state_dict().items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{number}.{key}": torch.as_tensor(v) for key, v in state.items()}
    write_tensors(path, tensors, {"standing": json.dumps(asdict(standing))}, before)


def restore(
    path: Path, model: nn.Module, objective: nn.Module, optimiser: Optimizer
) -> TrainingState:
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
    return TrainingState(**json.loads(metadata["standing"]))


def readable_checkpoint(state: Path, before: Path) -> Path | None:
    """The last checkpoint, or the one before it where that is damaged; None when there is none."""
    there = [path for path in (state, before) if path.exists()]
    reasons = []
    for path in there:
        try:
            read_tensors(path)
        except RunError as error:
            reasons.append(str(error))
        else:
            return path
    if reasons:
        raise RunError(f"{'; '.join(reasons)}; delete it to train from the start")
    return None


def write_tensors(
    path: Path, tensors: dict[str, Tensor], metadata: dict[str, str], before: Path | None = None
) -> None:
    """Write a safetensors file, proved readable before it counts; the old one is kept."""
    copies = {key: value.detach().cpu().contiguous().clone() for key, value in tensors.items()}
    with replacing(path) as temporary:
        notes = json.dumps({**metadata, DIGEST: digest_of(copies)}, sort_keys=True)
        save_file(copies, temporary, {NOTES: notes})
        sync(temporary)
        _drop_cached(temporary)
        read_tensors(temporary)
        if before is not None and path.exists():
            link = temporary.with_suffix(".before")
            os.link(path, link)
            os.replace(link, before)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read a safetensors file and its metadata; a damaged one is refused."""
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            metadata = dict(json.loads((file.metadata() or {}).get(NOTES, "{}")))
    except (OSError, ValueError, SafetensorError) as error:
        raise RunError(f"{path} cannot be read: {error}") from error
    written = metadata.pop(DIGEST, None)
    if written is not None and written != digest_of(tensors):
        raise RunError(f"{path} is damaged: its content is not what was written")
    return tensors, metadata


def digest_of(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of tensors and their names."""
    digest = hashlib.sha256()
    for key in sorted(tensors):
        value = tensors[key]
        digest.update(f"{key} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _drop_cached(path: Path) -> None:
    """Let the next read come from the disk, where the system can be asked to."""
    if hasattr(os, "posix_fadvise"):
        handle = os.open(path, os.O_RDONLY)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key[len(prefix) :]: value for key, value in tensors.items() if key.startswith(prefix)}
