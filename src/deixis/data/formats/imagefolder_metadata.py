"""Metadata files of an image folder: one row per image, as lines of JSON or of CSV."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from deixis.data.formats.csv_tables import table_records
from deixis.data.parsing.listing import ImageRow
from deixis.data.parsing.problems import CorpusProblem, ProblemKind, ReportProblem
from deixis.data.parsing.text_lines import json_lines
from deixis.data.split_names import split_name
from deixis.errors import DataError

NAMES = ("metadata.jsonl", "metadata.csv")
_TEXT_KEYS = ("captions", "caption", "text")


def read_metadata(path: Path, folder: str, report: ReportProblem) -> Iterator[ImageRow]:
    """Read the rows of a metadata file in a folder of the corpus."""
    records = json_lines(path, report) if path.suffix == ".jsonl" else table_records(path, report)
    for line, record in records:
        where = f"{path}:{line}"
        try:
            row = image_row(record, where, "file_name")
        except DataError as error:
            texts = any(key in record for key in _TEXT_KEYS) and "file_name" not in record
            kind: ProblemKind = "text without image" if texts else "malformed"
            report(CorpusProblem(kind, where, str(error)))
            continue
        file = f"{folder}/{row.file}" if folder != "." else row.file
        split = split_name(str(record.get("split") or folder_split(file)))
        yield replace(row, file=file, split=split)


def image_row(record: Mapping[str, Any], where: str, file_key: str) -> ImageRow:
    """Turn a record that names its image's file under a key into a row."""
    file = record.get(file_key)
    if not isinstance(file, str) or not file:
        raise DataError(f"no '{file_key}'; found: {', '.join(sorted(record)) or 'nothing'}")
    texts = _strings(record, next((k for k in _TEXT_KEYS if k in record), "text"))
    also = _listed(record, "also", len(texts)) if "also" in record else [[]] * len(texts)
    ids = _listed(record, "text_ids", len(texts)) if record.get("text_ids") else []
    return ImageRow(
        where,
        file,
        texts,
        split_name(str(record.get("split", "train"))),
        also=tuple(_strings({"also": files}, "also") for files in also),
        labels=_strings(record, "labels" if "labels" in record else "label"),
        twin=(_number(record.get("group", -1), "group"), _number(record.get("twin", -1), "twin")),
        id=_number(record.get("image_id", -1), "image_id"),
        text_ids=tuple(_number(id, "text_ids") for id in ids),
    )


def folder_split(file: str) -> str:
    """The first folder names the split; other folders train."""
    found = split_name(file.split("/", maxsplit=1)[0])
    return found if found in ("val", "test") else "train"


def _number(value: Any, key: str) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"'{key}' is {value!r}; use a whole number") from error


def _listed(record: Mapping[str, Any], key: str, wanted: int) -> list[Any]:
    value = record[key]
    if not isinstance(value, list) or len(value) != wanted:
        found = len(value) if isinstance(value, list) else type(value).__name__
        raise DataError(f"{wanted} texts but {found} {'lists in ' if key == 'also' else ''}'{key}'")
    return value


def _strings(record: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """One string or a list of them; a missing key is an empty list."""
    value = record.get(key, [])
    values = value if isinstance(value, list) else [value]
    for item in values:
        if not isinstance(item, str):
            found = type(item).__name__
            raise DataError(f"'{key}' holds a {found}; use text or a list of texts")
    return tuple(values)
