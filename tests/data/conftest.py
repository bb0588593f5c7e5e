"""A small written corpus of scenes, shared by the tests that read one."""

from pathlib import Path

import pytest

from deixis.data.simulated.scenes import write_scenes


@pytest.fixture(scope="session")
def scenes_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scenes(tmp_path_factory.mktemp("corpora") / "scenes", images=100, seed=3)
