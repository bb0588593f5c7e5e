"""Several processes that train one model: started by torchrun, joined here.

Every process draws the same batch, embeds its share and ends each step with the same weights. The
first one leads: it alone writes, validates and evaluates, while the others wait.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist

from deixis.errors import DeixisError
from deixis.training.precision import best_device

T = TypeVar("T")
INSTEAD = "start with torchrun, which sets it, or unset WORLD_SIZE to train in one process"
PATIENCE = timedelta(hours=6)  # the others wait while the first extracts features or validates


@contextmanager
def joined_processes() -> Iterator[bool]:
    """Join the other processes torchrun started, and say whether there are any."""
    if _count() == 1:
        yield False
        return
    device = best_device()
    if device.type == "cuda":
        torch.cuda.set_device(device)
    # Embeddings and gradients are exchanged where they lie: NCCL carries those of GPUs alone.
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=PATIENCE)
    try:
        yield True
    finally:
        dist.destroy_process_group()


def _count() -> int:
    """How many processes torchrun says there are; what it does not say is refused."""
    said = os.environ.get("WORLD_SIZE", "1")
    if not said.isdecimal() or int(said) < 1:
        raise DeixisError(
            f"the environment has WORLD_SIZE={said}, no number of processes; {INSTEAD}"
        )
    lacking = [name for name in ("RANK", "MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if int(said) > 1 and lacking:
        raise DeixisError(f"the environment has WORLD_SIZE={said} but no {lacking[0]}; {INSTEAD}")
    return int(said)


def leads() -> bool:
    """Whether this process is the one that writes."""
    return not dist.is_initialized() or dist.get_rank() == 0


def first_leads(task: Callable[[], T]) -> T:
    """Do a task in the first process, then in the others, who find on disk what it wrote."""
    if not dist.is_initialized():
        return task()
    if leads():
        done = task()
        dist.barrier()
        return done
    dist.barrier()
    return task()


def wait_for_all() -> None:
    """Go on when every process is here."""
    if dist.is_initialized():
        dist.barrier()
