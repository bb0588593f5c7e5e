"""Eight-bit rows kept beside the vectors they come from; derived, so any file may be deleted."""

import mmap
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.files import write_atomic
from deixis.neighbours.eight_bit_rows import RowErrors, quantise_rows
from deixis.shapes import Float32, Int8

FOLDER = "eight-bit"
FORMAT = "2"
NAMES = ("codes", "centre", "scale", "error", "longest")
CHECKED = 32  # rows by which a kept block is known to be of these vectors

Block = tuple[Int8[ndarray, "dim row"], RowErrors]


def eight_bit_blocks(
    vectors: Float32[ndarray, "row dim"], size: int, folder: Path | None
) -> Iterator[Block | None]:
    """Every block of rows in eight bits, read where a folder keeps it and kept there if not.

    A block that is not full yet is not kept: the next rows would make it another one.
    """
    for start in range(0, len(vectors), size):
        rows = vectors[start : start + size]
        if folder is None or len(rows) < size:
            yield quantise_rows(rows)
            _forget(rows)
            continue
        path, print_ = folder / f"{start // size:06}.safetensors", _print(rows)
        block = _read(path, print_)
        if block is None:
            block = quantise_rows(rows)
            if block is not None:
                _write(path, block, print_)
            _forget(rows)
        yield block
    if folder is not None:
        _remove_others(folder, len(vectors) // size)


def _remove_others(folder: Path, count: int) -> None:
    """Remove files beyond the number of blocks: an earlier version kept smaller ones."""
    for path in folder.glob("*.safetensors"):
        if path.stem >= f"{count:06}":
            with suppress(OSError):  # a library may lie where only its owner writes
                path.unlink()


def _forget(rows: Float32[ndarray, "row dim"]) -> None:
    """Take mapped rows out of this process's memory; they are read again where they are needed."""
    owner: object = rows
    while isinstance(owner, ndarray):
        owner = owner.base
    if not isinstance(owner, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    first = rows.ctypes.data - np.frombuffer(owner, np.uint8).ctypes.data
    page = mmap.PAGESIZE
    start, end = -(-first // page) * page, (first + rows.nbytes) // page * page
    if end > start:
        owner.madvise(mmap.MADV_DONTNEED, start, end - start)


def _read(path: Path, print_: str) -> Block | None:
    from safetensors import SafetensorError, safe_open  # large libraries only

    try:
        with safe_open(path, "numpy") as file:
            notes = file.metadata() or {}
            if (notes.get("format"), notes.get("rows")) != (FORMAT, print_):
                return None
            codes, centre, scale, error, longest = (file.get_tensor(name) for name in NAMES)
    except (OSError, SafetensorError):
        return None
    return codes, RowErrors(centre, scale, error, float(longest[0]))


def _write(path: Path, block: Block, print_: str) -> None:
    from safetensors.numpy import save  # large libraries only

    codes, errors = block
    longest = np.array([errors.longest], np.float64)
    arrays = (codes, errors.centre, errors.scale, errors.error, longest)
    notes = {"format": FORMAT, "rows": print_, "sum": _sum(arrays)}
    content = save(dict(zip(NAMES, arrays, strict=True)), notes)
    try:
        write_atomic(path, content)
    except OSError:  # a library may lie where only its owner writes
        return


def damaged_blocks(folder: Path) -> list[Path]:
    """The kept blocks that are not what was written; every byte is read."""
    from safetensors import SafetensorError, safe_open  # large libraries only

    damaged = []
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(path, "numpy") as file:
                arrays = [file.get_tensor(name) for name in NAMES]
                written = (file.metadata() or {}).get("sum")
        except (OSError, SafetensorError):
            damaged.append(path)
            continue
        if written != _sum(arrays):
            damaged.append(path)
    return damaged


def _sum(arrays: Sequence[ndarray]) -> str:
    digest = sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _print(rows: Float32[ndarray, "row dim"]) -> str:
    """A hash of some rows, the first and the last among them."""
    chosen = np.linspace(0, len(rows) - 1, CHECKED).astype(np.int64)
    return sha256(np.ascontiguousarray(rows[chosen]).tobytes()).hexdigest()
