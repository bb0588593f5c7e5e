"""Metadata files of an image folder: one row an image, as lines of JSON or of CSV."""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deixis.errors import DataError

NAMES = ("metadata.jsonl", "metadata.csv")
_TEXT_KEYS = ("captions", "caption", "text")


@dataclass(frozen=True, slots=True)
class Row:
    """What a metadata file says of one image."""

    where: str  # file and line, for messages
    file: str  # relative to the metadata's folder
    texts: tuple[str, ...]
    also: tuple[tuple[str, ...], ...]  # a text: other images it fits, relative to the corpus
    labels: tuple[str, ...]
    twin: tuple[int, int]  # group and place in it; -1 outside groups


def read_metadata(path: Path) -> Iterator[Row]:
    """Read the rows of a metadata file, refusing the first that cannot be used."""
    records = _json_records(path) if path.suffix == ".jsonl" else _csv_records(path)
    for line, record in records:
        yield _row(record, f"{path}:{line}")


def _json_records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open("rb") as file:
        for line, raw in enumerate(file, start=1):
            if not raw.strip():
                continue
            try:
                record = json.loads(raw)
            except ValueError as error:
                raise DataError(f"{path}:{line}: not a line of JSON ({error})") from error
            if not isinstance(record, dict):
                found = type(record).__name__
                raise DataError(f"{path}:{line}: found a {found}, not a JSON object")
            yield line, record


def _csv_records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            for record in reader:
                yield reader.line_num, {k: v for k, v in record.items() if k and v is not None}
        except (csv.Error, UnicodeDecodeError) as error:
            raise DataError(f"{path}:{reader.line_num + 1}: not a row of CSV ({error})") from error


def _row(record: Mapping[str, Any], where: str) -> Row:
    file = record.get("file_name")
    if not isinstance(file, str) or not file:
        raise DataError(f"{where}: no 'file_name'; found: {', '.join(sorted(record)) or 'nothing'}")
    texts = _strings(record, next((k for k in _TEXT_KEYS if k in record), "text"), where)
    also = record.get("also", [[]] * len(texts))
    if len(also) != len(texts):
        raise DataError(f"{where}: {len(texts)} texts but {len(also)} lists in 'also'")
    labels = _strings(record, "labels" if "labels" in record else "label", where)
    twin = (int(record.get("group", -1)), int(record.get("twin", -1)))
    return Row(where, file, texts, tuple(map(tuple, also)), labels, twin)


def _strings(record: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    """One string or a list of them; a missing key is an empty list."""
    value = record.get(key, [])
    values = value if isinstance(value, list) else [value]
    for item in values:
        if not isinstance(item, str):
            found = type(item).__name__
            raise DataError(f"{where}: '{key}' holds a {found}; text or a list of texts would do")
    return tuple(values)
