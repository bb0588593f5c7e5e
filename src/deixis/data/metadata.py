"""Metadata files of an image folder: one row an image, as lines of JSON or of CSV."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from deixis.data.lines import json_lines
from deixis.data.problems import Kind, Problem, Tell
from deixis.data.rows import Row, split_name
from deixis.data.tables import table_records
from deixis.errors import DataError

NAMES = ("metadata.jsonl", "metadata.csv")
_TEXT_KEYS = ("captions", "caption", "text")


def read_metadata(path: Path, folder: str, tell: Tell) -> Iterator[Row]:
    """Read the rows of a metadata file that lies in a folder of the corpus."""
    records = json_lines(path, tell) if path.suffix == ".jsonl" else table_records(path, tell)
    for line, record in records:
        where = f"{path}:{line}"
        try:
            row = image_row(record, where, "file_name")
        except DataError as error:
            texts = any(key in record for key in _TEXT_KEYS) and "file_name" not in record
            kind: Kind = "text without image" if texts else "malformed"
            tell(Problem(kind, where, str(error)))
            continue
        file = f"{folder}/{row.file}" if folder != "." else row.file
        split = split_name(str(record.get("split") or folder_split(file)))
        yield replace(row, file=file, split=split)


def image_row(record: Mapping[str, Any], where: str, file_key: str) -> Row:
    """Turn a record that names its image's file under a key into a row."""
    file = record.get(file_key)
    if not isinstance(file, str) or not file:
        raise DataError(f"no '{file_key}'; found: {', '.join(sorted(record)) or 'nothing'}")
    texts = _strings(record, next((k for k in _TEXT_KEYS if k in record), "text"))
    also = record.get("also", [[]] * len(texts))
    if len(also) != len(texts):
        raise DataError(f"{len(texts)} texts but {len(also)} lists in 'also'")
    text_ids = tuple(int(id) for id in record.get("text_ids", ()))
    if text_ids and len(text_ids) != len(texts):
        raise DataError(f"{len(texts)} texts but {len(text_ids)} 'text_ids'")
    return Row(
        where,
        file,
        texts,
        split_name(str(record.get("split", "train"))),
        also=tuple(map(tuple, also)),
        labels=_strings(record, "labels" if "labels" in record else "label"),
        twin=(int(record.get("group", -1)), int(record.get("twin", -1))),
        id=int(record.get("image_id", -1)),
        text_ids=text_ids,
    )


def folder_split(file: str) -> str:
    """The first folder names the split; other folders train."""
    found = split_name(file.split("/", maxsplit=1)[0])
    return found if found in ("val", "test") else "train"


def _strings(record: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """One string or a list of them; a missing key is an empty list."""
    value = record.get(key, [])
    values = value if isinstance(value, list) else [value]
    for item in values:
        if not isinstance(item, str):
            found = type(item).__name__
            raise DataError(f"'{key}' holds a {found}; text or a list of texts would do")
    return tuple(values)
