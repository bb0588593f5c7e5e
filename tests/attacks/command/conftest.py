"""One process from which all commands of the room are forked."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from forked_commands import ForkedCommands

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def forked() -> Iterator[ForkedCommands]:
    with ForkedCommands() as commands:
        yield commands


@pytest.fixture
def command(forked: ForkedCommands, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Run ``deixis`` with arguments in a folder."""

    def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return forked.run(*arguments, cwd=cwd, said=tmp_path_factory.mktemp("said"))

    return run
