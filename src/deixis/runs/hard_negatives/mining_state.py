"""The progress of a mining pass, saved from time to time."""

import io
import time
from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.files import write_atomic

FILE = "state.npz"
SAVE_EVERY = 30.0  # seconds between two states on disk


class MiningState:
    """A file that one task writes; what another task wrote is not taken up."""

    def __init__(self, folder: Path, task: str) -> None:
        self._path, self._task = folder / FILE, task
        self._saved = time.monotonic()

    def load(self) -> dict[str, ndarray]:
        """What an earlier process wrote for the same task, if anything."""
        if not self._path.exists():
            return {}
        with np.load(self._path, allow_pickle=False) as state:
            if state["task"].item() != self._task:
                return {}
            return {name: state[name] for name in state.files if name != "task"}

    def save(self, **arrays: ndarray) -> None:
        """Write arrays down if it is time to."""
        if time.monotonic() - self._saved <= SAVE_EVERY:
            return
        content = io.BytesIO()
        np.savez(content, **arrays, task=np.array(self._task))  # type: ignore[arg-type]
        write_atomic(self._path, content.getvalue())
        self._saved = time.monotonic()

    def remove(self) -> None:
        """Forget it: the task is done."""
        self._path.unlink(missing_ok=True)
