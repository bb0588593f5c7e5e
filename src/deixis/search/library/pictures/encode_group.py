"""Pictures encoded together, and what else is measured while they are decoded."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from numpy import ndarray

from deixis.errors import SearchError
from deixis.features.store.image_files import SharedPicture
from deixis.runs.places.place_head import StoredCells
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.manifest import FileEntry
from deixis.search.library.pictures.encode_files import encode_files, storable
from deixis.search.library.pictures.fingerprint import Fingerprint, fingerprint_of
from deixis.shapes import Float32

Vectors = Float32[ndarray, "_ dim"]


@dataclass(frozen=True, slots=True)
class EncodedGroup:
    """By content hash: vectors, fingerprints, cells, and for the rest why there are none."""

    vectors: dict[str, Vectors] = field(default_factory=dict)
    looks: dict[str, Fingerprint] = field(default_factory=dict)
    cells: dict[str, StoredCells] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


def encode_group(encoder: SearchEncoder, fresh: Mapping[str, FileEntry]) -> EncodedGroup:
    """Encode files, each decoded once; safe in several threads where the encoder is."""
    group = EncodedGroup()
    if not fresh:
        return group
    pictures = [SharedPicture(Path(entry.path)) for entry in fresh.values()]
    encoded = encode_files(encoder, pictures)
    if len(encoded.parts) + len(encoded.broken) != len(fresh):
        raise SearchError(f"the model answered for {len(encoded.parts)} of {len(fresh)} files")
    listed = zip(fresh.items(), pictures, encoded, strict=True)
    for place, ((name, entry), picture, found) in enumerate(listed):
        if isinstance(found, str):
            group.reasons[name] = storable(found)
        elif _changed(entry):
            group.reasons[name] = "it changed while it was read; index again"
        else:
            group.vectors[name] = found
            look = fingerprint_of(picture)
            if look is not None:
                group.looks[name] = look
            cells = encoded.cells_of(place)
            if cells is not None:
                group.cells[name] = cells
    return group


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _changed(entry: FileEntry) -> bool:
    try:
        now = os.stat(entry.path)
    except OSError:
        return True
    return (now.st_size, now.st_mtime_ns) != (entry.size, entry.mtime_ns)
