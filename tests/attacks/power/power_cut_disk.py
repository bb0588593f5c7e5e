"""What a disk holds after the power was cut, by the promises of POSIX alone.

While a block runs, every ``fsync`` is noted: of a file it makes its bytes safe, of a folder the
names in it. From that, at any moment, three disks can be written down: *strict*, on which nothing
is left that was not synced; *eager*, on which names went ahead of bytes, as delayed allocation
does; and *torn*, on which chance decides for each file. A file whose bytes were never synced is
empty.
"""

import gc
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MOMENTS = ("fsync", "replace", "rename", "link", "unlink", "truncate")


class PowerCutDisk:
    """Watches a folder; ``on_moment`` is called before and after whatever changes the disk."""

    def __init__(self, root: Path, on_moment: Callable[["PowerCutDisk"], None]) -> None:
        self.root, self._on_moment = root, on_moment
        self._bytes: dict[int, bytes] = {}  # by inode
        self._names: dict[int, dict[str, int]] = {}  # by inode: a folder keeps them when renamed
        self._held: dict[int, int] = {}  # open handles, so that no inode is used twice

    @contextmanager
    def watching(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in MOMENTS:
                patch.setattr(os, name, self._watched(name, getattr(os, name)))
            yield
        for handle in self._held.values():
            os.close(handle)

    def _watched(self, name, real):
        def call(*arguments, **options):
            self._on_moment(self)
            answer = real(*arguments, **options)
            if name == "fsync":
                self._synced(Path(os.readlink(f"/proc/self/fd/{arguments[0]}")), arguments[0])
            self._on_moment(self)
            return answer

        return call

    def _synced(self, path: Path, handle: int) -> None:
        if not path.is_relative_to(self.root):
            return
        inode = os.fstat(handle).st_ino
        if inode not in self._held:
            self._held[inode] = os.open(path, os.O_RDONLY)
        if path.is_dir():
            self._names[inode] = {entry.name: entry.inode() for entry in os.scandir(path)}
        else:
            self._bytes[inode] = path.read_bytes()

    def write_down(self, target: Path, kind: str, seed: int = 0) -> None:
        """The disk as it would be found now."""
        self._folder(self.root, target, kind, random.Random(seed))

    def _folder(self, source: Path, target: Path, kind: str, chance: random.Random) -> None:
        target.mkdir(parents=True)
        safe = self._names.get(source.stat().st_ino, {})
        now = {entry.name: entry.inode() for entry in os.scandir(source)}
        names = {"strict": safe, "eager": now, "torn": safe if chance.random() < 0.5 else now}[kind]
        for name, inode in names.items():
            if (source / name).is_dir():
                self._folder(source / name, target / name, kind, chance)
                continue
            content = self._bytes.get(inode, b"")
            if kind == "torn" and chance.random() < 0.5 and (source / name).exists():
                content = (source / name).read_bytes() if now.get(name) == inode else content
            (target / name).write_bytes(content)


def new_image(path: Path) -> Path:
    """An empty ext4 file system in a file."""
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 is not installed")
    with path.open("wb") as file:
        file.truncate(32_000_000)
    subprocess.run(["mkfs.ext4", "-q", path], check=True)
    return path


@contextmanager
def mounted(image: Path, folder: Path) -> Iterator[None]:
    """Mount an image by a loop device; where the machine does not allow it, the test is skipped.

    A copy of the image file holds what the file system gave to its disk up to that moment: what
    waits in memory for a later write is not in it, as after a power cut.
    """
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        ["mount", "-o", "loop", image, folder], check=False, capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"no loop device can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        gc.collect()  # tensors may still have their file mapped
        subprocess.run(["umount", folder], check=True)
