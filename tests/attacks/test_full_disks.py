"""A disk that is full ends an indexing by a sentence; what was reported stays, the rest follows."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from made_library import made_library
from safetensors.torch import save_file

from deixis.files import replacing, replacing_folder
from deixis.search.library.library_store import LibraryStore
from deixis.search.library.verification import verify
from deixis.training.checkpoint import write_tensors
from fake_encoder import FakeEncoder

FILES = 200


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own, in memory."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def resize(disk: Path, kilobytes: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(disk)], check=True)


@pytest.mark.parametrize("kilobytes", [16, 48, 80, 112, 176, 240, 336])
def test_indexing_onto_a_full_disk_loses_nothing_that_was_reported(tmp_path, disk, kilobytes):
    pictures, encoder, reported = tmp_path / "pictures", FakeEncoder(dim=64), []
    pictures.mkdir()
    for number in range(FILES):
        (pictures / f"{number:03}.jpg").write_bytes(b"picture %d" % number)
    resize(disk, kilobytes)
    with (
        pytest.raises(OSError, match="No space left") as refused,
        LibraryStore.open_or_create(disk / "library", encoder) as library,
    ):
        library.add([pictures], encoder, lambda outcome, *_: reported.append(outcome.path))
    assert refused.value.errno == errno.ENOSPC
    resize(disk, 20_000)
    with LibraryStore.open_or_create(disk / "library", encoder) as library:
        assert set(reported) <= library.generation.manifest.files().keys()
        library.add([pictures], encoder)
    found = verify(disk / "library")
    assert (found.compared, found.damages, found.notes) == (FILES, (), ())


def saved_by_numpy(path: Path) -> None:
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.save(file, np.zeros(100_000))


def saved_as_tensors(path: Path) -> None:
    write_tensors(path, {"weight": torch.zeros(100_000)}, {})


def saved_in_a_folder(path: Path) -> None:
    with replacing_folder(path) as temporary:
        save_file({"weight": torch.zeros(100_000)}, temporary / "model.safetensors")


@pytest.mark.parametrize("save", [saved_by_numpy, saved_as_tensors, saved_in_a_folder])
def test_whoever_writes_a_full_disk_is_the_same_error(disk, save):
    with pytest.raises(OSError, match="No space left") as refused:
        save(disk / "file")
    assert refused.value.errno == errno.ENOSPC
    assert not list(disk.iterdir()), "a part of it was left behind"


def test_the_command_says_that_the_disk_is_full(tmp_path, disk):
    made_library(tmp_path, 30)
    resize(disk, 64)
    line = ["index", str(tmp_path / "pictures"), "--library", str(disk / "library")]
    start = [sys.executable, "-c", "from deixis.cli import main; main()", *line]
    done = subprocess.run(start, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "the disk is full; free some space and run the same command again" in done.stderr
    assert "Traceback" not in done.stderr
