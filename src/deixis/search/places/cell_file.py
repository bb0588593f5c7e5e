"""The cells of pictures on disk: one record per picture, beside the vectors of a generation."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from deixis.errors import SearchError
from deixis.features.places.cell_grid import CELLS
from deixis.files import sync
from deixis.runs.places.place_head import StoredCells
from deixis.search.places.cell_table import CellSlot
from deixis.shapes import Int64

SHOWN = 16  # characters of a head's identity in the file's name


class CellFile:
    """Records of a scale and 81 cells in eight bits; the number of a record is its slot.

    Written like vectors: synced before the manifest's commit names the slots, inside its write
    transaction, so slots that it does not name are leftovers of a killed writer. Another place
    head has a file of its own: whoever still reads the old one is not disturbed.
    """

    def __init__(self, folder: Path, head: str, dim: int) -> None:
        self.path = folder / f"cells-{head[:SHOWN]}.i8"
        self._record = np.dtype([("scale", "<f4"), ("values", "i1", (CELLS, dim))])

    @property
    def width(self) -> int:
        """Bytes per picture."""
        return self._record.itemsize

    def stored(self) -> int:
        """How many whole records the file really holds."""
        return self.path.stat().st_size // self.width if self.path.exists() else 0

    def append(self, slot: int, cells: Mapping[str, StoredCells]) -> list[CellSlot]:
        """Write the cells of contents from a slot on."""
        if not cells:
            return []
        records = {name: self._packed(own) for name, own in cells.items()}
        if not self.path.exists():
            self.path.touch()
            sync(self.path.parent)
        with open(self.path, "r+b") as file:
            file.seek(slot * self.width)
            file.write(b"".join(records.values()))
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        listed = enumerate(records.items(), slot)
        return [CellSlot(name, place, _checksum(record)) for place, (name, record) in listed]

    def read(self, slots: Int64[ndarray, " slot"] | Sequence[int]) -> StoredCells:
        """The cells at some slots."""
        return cells_at(self.records(), np.asarray(slots, dtype=np.int64))

    def damaged(self, slots: Sequence[CellSlot]) -> list[CellSlot]:
        """Those whose records are missing or not what was written."""
        records, there = self.records(), self.stored()
        return [
            one
            for one in slots
            if one.slot >= there or _checksum(records[one.slot].tobytes()) != one.sum
        ]

    def check(self, slots: Sequence[CellSlot]) -> None:
        """Refuse a file of which some records are not what was written."""
        wrong = self.damaged(slots)
        if wrong:
            raise SearchError(
                f"{self.path} is damaged at slot {wrong[0].slot}; to find every damaged record "
                f"and encode it again: deixis verify --library {self.path.parent.parent}"
            )

    def _packed(self, cells: StoredCells) -> bytes:
        values, scale = cells.values[0], cells.scale[0]
        if values.shape != self._record["values"].shape:
            wanted = self._record["values"].shape
            raise SearchError(f"the model gave cells of {values.shape}, {wanted} were announced")
        record = np.zeros((), self._record)
        record["scale"], record["values"] = scale, values
        return record.tobytes()

    def records(self) -> Any:  # structured arrays have no types of their own
        """Every record, mapped and not read."""
        if not self.stored():
            return np.zeros(0, self._record)
        return np.asarray(np.memmap(self.path, self._record, "r", shape=(self.stored(),)))


def cells_at(records: Any, slots: Int64[ndarray, " slot"]) -> StoredCells:
    """The cells at some slots of mapped records."""
    found = records[slots]
    return StoredCells(found["values"], found["scale"])


def _checksum(record: bytes) -> str:
    return hashlib.blake2b(record, digest_size=16).hexdigest()
