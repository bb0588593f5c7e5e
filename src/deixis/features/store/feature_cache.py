"""Features on disk: memory-mapped arrays with a manifest, written so that a crash loses nothing.

While a cache grows, rows are appended to ``*.partial`` files and each finished block adds a line
to ``journal.jsonl`` after its rows are on disk. A new writer drops what the journal does not
vouch for and goes on, so the result is the same bytes whether or not it was interrupted. The
manifest is written last and makes the cache whole.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from deixis.errors import FeatureError
from deixis.features.store.half_precision import in_half_precision
from deixis.features.store.packed import Packed, PackedRegions, PackedTokens, arrays_of, offsets_of
from deixis.files import locked, parse_json, sync, write_atomic, write_json

MANIFEST, JOURNAL = "manifest.json", "journal.jsonl"
DTYPES: dict[str, Any] = {
    "values": np.float16,
    "boxes": np.float32,
    "pooled": np.float32,
    "ids": np.int64,
}
HEADER = 128  # bytes numpy needs before the rows; the room is kept free until the shape is known

CacheIdentity = Mapping[str, str | int]  # kind, backbone, weights, preprocessing, corpus, items


def is_complete(folder: Path) -> bool:
    """Whether the folder holds a finished cache."""
    return (folder / MANIFEST).is_file()


def open_cache(folder: Path, wanted: CacheIdentity) -> Packed:
    """Map a finished cache into memory, refusing one made from or with something else."""
    manifest = read_manifest(folder)
    _refuse_mismatch(folder, manifest, wanted)
    names = [name for name in (*DTYPES, "offsets") if (folder / f"{name}.npy").is_file()]
    arrays: dict[str, Any] = {name: _mapped(folder / f"{name}.npy") for name in names}
    if len(arrays["offsets"]) != int(wanted["items"]) + 1:
        raise FeatureError(f"{folder}/offsets.npy does not fit the manifest; delete the folder")
    return (PackedRegions if wanted["kind"] == "regions" else PackedTokens)(**arrays)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a finished cache, with the broken items and their reasons."""
    try:
        manifest = parse_json((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FeatureError(f"{folder}: no finished feature cache ({error})") from error
    return dict(manifest)


def _refuse_mismatch(folder: Path, found: Mapping[str, Any], wanted: CacheIdentity) -> None:
    for key, value in wanted.items():
        if found.get(key) != value:
            raise FeatureError(
                f"{folder} holds other features: {key} is {found.get(key)!r}, wanted {value!r};"
                " delete the folder or choose another"
            )


def _mapped(path: Path) -> ndarray:
    try:
        array: ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError:  # an empty array cannot be mapped
        array = np.load(path, allow_pickle=False)
    return array


@contextmanager
def locked_cache(folder: Path) -> Iterator[None]:
    """Hold a cache folder for one writer; a second one waits and then finds it finished."""
    with locked(folder / ".lock"):
        strays = list(folder.glob(".*.tmp"))  # of writers that were killed
        if is_complete(folder):
            strays.append(folder / JOURNAL)
        for stray in strays:
            stray.unlink(missing_ok=True)
        yield


class CacheWriter:
    """Appends blocks of features to a cache, going on where an earlier writer stopped."""

    def __init__(self, folder: Path, wanted: CacheIdentity) -> None:
        self._folder, self._wanted = folder, dict(wanted)
        self._counts: list[int] = []
        self._broken: dict[str, str] = {}
        self._shapes: dict[str, list[int]] = {}
        self._recover()

    @property
    def done(self) -> int:
        """How many items are safely written."""
        return len(self._counts)

    def append(self, packed: Packed, broken: Mapping[int, str]) -> None:
        """Add the next items; ``broken`` gives the reason for each that has no rows."""
        block = arrays_of(packed)
        counts = np.diff(block.pop("offsets")).tolist()
        for name, array in block.items():
            half = DTYPES[name] is np.float16
            self._extend(name, in_half_precision(array) if half else array.astype(DTYPES[name]))
        line = {
            "counts": counts,
            "broken": {str(item): reason for item, reason in broken.items()},
            "shapes": self._shapes,
        }
        self._note(line)
        self._counts += counts
        self._broken |= line["broken"]

    def finish(self) -> None:
        """Turn the partial files into arrays and write the manifest."""
        for name, shape in self._shapes.items():
            partial = self._partial(name)
            if partial.exists():  # not when an earlier writer died in the middle of this loop
                _write_header(partial, shape, DTYPES[name])
                os.replace(partial, self._folder / f"{name}.npy")
        sync(self._folder)
        write_atomic(self._folder / "offsets.npy", _npy(offsets_of(self._counts)))
        outcomes = {"ok": self.done - len(self._broken), "broken": len(self._broken)}
        record = {"library": version("deixis"), "outcomes": outcomes, "broken": self._broken}
        write_json(self._folder / MANIFEST, self._wanted | record)
        (self._folder / JOURNAL).unlink()

    def _partial(self, name: str) -> Path:
        return self._folder / f"{name}.partial"

    def _extend(self, name: str, array: ndarray) -> None:
        shape = self._shapes.get(name)
        if shape is None or shape[0] == 0:  # nothing but broken items so far: no width is known
            shape = self._shapes[name] = [0, *array.shape[1:]]
        if len(array) and shape[1:] != list(array.shape[1:]):
            raise FeatureError(f"{name} of this block have shape {array.shape}, before {shape}")
        with self._partial(name).open("ab") as file:
            new = file.tell() == 0
            if new:
                file.write(bytes(HEADER))
            file.write(np.ascontiguousarray(array).data)
            _sync(file)
        if new:
            sync(self._folder)  # the journal may name rows only in a file that has a name
        shape[0] += len(array)

    def _note(self, line: Mapping[str, Any]) -> None:
        with (self._folder / JOURNAL).open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            _sync(file)

    def _recover(self) -> None:
        journal = self._folder / JOURNAL
        written = journal.read_bytes() if journal.exists() else b""
        whole = written[: written.rfind(b"\n") + 1]  # a torn last line was never finished
        head, *blocks = [json.loads(line) for line in whole.splitlines()] or [None]
        if head is None:
            for name in DTYPES:
                self._partial(name).unlink(missing_ok=True)
            write_atomic(journal, json.dumps(self._wanted).encode() + b"\n")
            return
        _refuse_mismatch(self._folder, head, self._wanted)
        os.truncate(journal, len(whole))
        for block in blocks:
            self._counts += block["counts"]
            self._broken |= block["broken"]
            self._shapes = block["shapes"]
        self._drop_unfinished()

    def _drop_unfinished(self) -> None:
        for name, dtype in DTYPES.items():
            partial = self._partial(name)
            if not partial.exists():
                continue
            if name not in self._shapes:
                partial.unlink()
                continue
            size = HEADER + int(np.prod(self._shapes[name])) * np.dtype(dtype).itemsize
            if partial.stat().st_size < size:
                raise FeatureError(f"{partial} lost rows that were written; delete the folder")
            os.truncate(partial, size)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _write_header(path: Path, shape: list[int], dtype: Any) -> None:
    header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": tuple(shape)}
    with path.open("r+b") as file:
        np.lib.format.write_array_header_1_0(file, header)
        assert file.tell() == HEADER, "numpy changed the length of its header"
        _sync(file)


def _npy(array: Int[ndarray, " place"]) -> bytes:
    buffer = BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
