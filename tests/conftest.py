"""Shared by every test: golden files and a fixed seed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

torch.set_num_threads(1)  # tests are small: a second thread only waits when the machine is busy
GOLDEN = Path(__file__).parent / "golden"


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
