"""Shared by every test: golden files and fixed seeds."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import settings

from typed_calls import install

install()

# The same examples in every run: what fails once fails again; and a busy machine is no failure.
settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")

# Tests are small: a second thread only waits when the machine is busy. And the number must never
# change within a process: oneDNN lays out the workspace of a convolution for the number it first
# saw, and a later backward pass on more threads writes past its end.
torch.set_num_threads(1)
torch.set_num_threads = lambda threads: None
# Nobody cuts the power of a test's disk, except in attacks/power, where disks are waited for.
os.fsync = lambda file: None
GOLDEN = Path(__file__).parent / "golden"

# Processes share the tests by files; what takes longest comes first, so that both end together.
LONGEST = (
    "recipes/test_recipes_on_layouts.py",
    "docs/test_what_to_type.py",
    "docs/test_console_blocks.py",
    "serve/test_page.py",
    "serve/test_page_library.py",
    "benchmarks/test_benchmark_json.py",
    "training/test_processes.py",
    "attacks/test_picture_bombs.py",
    "serve/test_page_pointing.py",
    "recipes/pointing/test_places_of_rows.py",
    "recipes/packing/test_packaging.py",
    "cli/test_demo.py",
    "examples/test_training_examples.py",
    "serve/speech/test_speaking_page.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    assert all(path.exists() for path in places), "LONGEST names a file that is gone"
    items.sort(key=lambda item: places.get(item.path, len(places)))


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


@pytest.fixture(autouse=True)
def _nothing_from_a_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test named may not be fetched by the next."""
    monkeypatch.setattr("deixis.features.backbones.hub_access._named", set())


@pytest.fixture(scope="session")
def golden() -> Callable[[str], dict[str, np.ndarray]]:
    """Read a golden file by folder and name, for example ``golden("dive/gpo")``."""

    def read(name: str) -> dict[str, np.ndarray]:
        with np.load(GOLDEN / f"{name}.npz", allow_pickle=False) as file:
            return {key: file[key] for key in file.files}

    return read
