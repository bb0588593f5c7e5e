"""Shared by every test: golden files and fixed seeds."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import settings

# The same examples in every run: what fails once fails again.
settings.register_profile("same", derandomize=True, database=None)
settings.load_profile("same")

# Tests are small: a second thread only waits when the machine is busy. And the number must never
# change within a process: oneDNN lays out the workspace of a convolution for the number it first
# saw, and a later backward pass on more threads writes past its end.
torch.set_num_threads(1)
torch.set_num_threads = lambda threads: None
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of this run, shared by its processes: never the user's own."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEIXIS_CACHE", str(shared / "cache"))
        yield


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def golden() -> Callable[[str], dict[str, np.ndarray]]:
    """Read a golden file by folder and name, for example ``golden("dive/gpo")``."""

    def read(name: str) -> dict[str, np.ndarray]:
        with np.load(GOLDEN / f"{name}.npz", allow_pickle=False) as file:
            return {key: file[key] for key in file.files}

    return read
