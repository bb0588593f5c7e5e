"""Hashes of a generation's small files, block by block, recorded when indexing ended."""

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from deixis.files import parse_json, sync, write_json

SEAL, HEADER, MANIFEST = "seal.json", "header.json", "manifest.sqlite"
FORMAT = 2  # the first one stayed while its files were written
BLOCK = 65_536  # bytes a hash is of: so finely can damage be placed


@dataclass(frozen=True, slots=True)
class SealedFile:
    """A file's size and a hash of every block."""

    size: int
    blocks: tuple[str, ...]

    @classmethod
    def of(cls, path: Path) -> "SealedFile":
        """What a file is now."""
        return cls(path.stat().st_size, tuple(_hashes(path)))

    def damage(self, path: Path) -> list[tuple[int, int]]:
        """The byte ranges in which a file is not what it was."""
        found = list(_hashes(path)) if path.exists() else []
        places = range(max(len(found), len(self.blocks)))
        wrong = [p for p in places if found[p : p + 1] != list(self.blocks[p : p + 1])]
        return merged([(p * BLOCK, min((p + 1) * BLOCK, max(self.size, 1))) for p in wrong])


def seal(folder: Path) -> None:
    """Write down what a generation's manifest and header are now, and a copy of the header.

    Nobody may write to them before the seal is broken.
    """
    files = {name: asdict(SealedFile.of(folder / name)) for name in (MANIFEST, HEADER)}
    header = (folder / HEADER).read_text(encoding="utf-8")
    record = {"format": FORMAT, "block": BLOCK, "files": files, "header": header}
    write_json(folder / SEAL, record)


def break_seal(folder: Path) -> None:
    """Take the seal away before manifest or header change, so that only damage ever differs."""
    if (folder / SEAL).exists():
        (folder / SEAL).unlink(missing_ok=True)
        sync(folder)


def read_seal(folder: Path) -> tuple[dict[str, SealedFile], str] | None:
    """The sealed files by name and the copy of the header; None when there is no readable seal."""
    try:
        read = parse_json((folder / SEAL).read_text(encoding="utf-8"))
        files = {
            name: SealedFile(int(one["size"]), tuple(one["blocks"]))
            for name, one in ((name, read["files"][name]) for name in (MANIFEST, HEADER))
        }
        return (files, str(read["header"])) if read["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those that touch as one.

    >>> merged([(4, 8), (0, 4), (10, 12)])
    [(0, 8), (10, 12)]
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _hashes(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield hashlib.blake2b(block, digest_size=16).hexdigest()
