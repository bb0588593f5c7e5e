"""Localized Narratives: one JSON record per line: what was said and where the pointer was.

Both layouts in circulation are read: rows (``[{"utterance": …, "start_time": …}, …]``) and columns
(``{"utterance": […], "start_time": […]}``). Files reach gigabytes, so only where each record lies
is kept; a record is parsed when it is asked for.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deixis.data.parsing.problems import CorpusProblem, ReportProblem, refuse
from deixis.data.split_names import split_name
from deixis.errors import DataError
from deixis.features.trace.narration import Narration, Point, TimedWord
from deixis.files import parse_json

_SPLIT = re.compile(r"train|validation|val|test")


@dataclass(frozen=True, slots=True)
class Narrative:
    """One person's narration of one image, as a file records it."""

    image: str  # the image's id in its source
    narration: Narration
    source: str = ""
    annotator: int = -1


class NarrativeFile:
    """A file of narratives, read record by record; images and texts are known at once."""

    def __init__(self, path: Path, report: ReportProblem = refuse) -> None:
        self.path = path
        self.images: list[str] = []
        self.texts: list[str] = []
        self._offsets: list[int] = []
        self._lines: list[int] = []
        for line, offset, record in _scan(path, report):
            absent = [key for key in ("image_id", "caption") if key not in record]
            if absent:
                what = f"no '{absent[0]}'; found: {', '.join(sorted(record)) or 'nothing'}"
                report(CorpusProblem("malformed", f"{path}:{line}", what))
                continue
            self.images.append(str(record["image_id"]))
            self.texts.append(str(record["caption"]))
            self._offsets.append(offset)
            self._lines.append(line)

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def split(self) -> str:
        """The split given by the file's name, as in the published files; empty if there is none."""
        found = _SPLIT.search(self.path.stem)
        return split_name(found[0]) if found else ""

    def where(self, row: int) -> str:
        """File and line of a record, for messages."""
        return f"{self.path}:{self._lines[row]}"

    def __getitem__(self, row: int) -> Narrative:
        with self.path.open("rb") as file:
            file.seek(self._offsets[row])
            record = _decode(file.readline(), self.where(row), refuse)
        assert record is not None, "refuse always raises"
        return parse_narrative(record, self.where(row))


def narratives_in(folder: Path, report: ReportProblem = refuse) -> tuple[NarrativeFile, ...]:
    """The files of narratives a folder holds, by the names they are published or written under."""
    found = {*folder.glob("narratives*.jsonl"), *folder.glob("*localized_narratives*.jsonl")}
    return tuple(NarrativeFile(path, report) for path in sorted(found))


class LazyNarrations(Mapping[int, Narration]):
    """Narrations by text, read from their files on demand."""

    def __init__(self, places: Mapping[int, tuple[NarrativeFile, int]]) -> None:
        self._places = places

    def __getitem__(self, text: int) -> Narration:
        file, row = self._places[text]
        return file[row].narration

    def __iter__(self) -> Iterator[int]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def read_narratives(path: Path) -> Iterator[Narrative]:
    """Read a file front to back, one record in memory at a time."""
    for line, _, record in _scan(path, refuse):
        yield parse_narrative(record, f"{path}:{line}")


def parse_narrative(record: Mapping[str, Any], where: object) -> Narrative:
    """Turn a record of either layout into a narrative; words and trace may be absent.

    Points without a finite place and time are dropped, out-of-range ones are kept: annotators
    did leave the picture. Zero-length words are normal.
    """
    try:
        words = [_word(row) for row in _rows(record.get("timed_caption"))]
        strokes = [_stroke(rows) for rows in _strokes(record.get("traces"))]
        return Narrative(
            str(record["image_id"]),
            Narration(str(record["caption"]), tuple(words), tuple(strokes)),
            str(record.get("dataset_id", "")),
            int(record.get("annotator_id", -1)),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        found = f"{type(error).__name__}: {error}"
        raise DataError(f"{where}: not a Localized Narratives record ({found})") from error


def narrative_record(narrative: Narrative) -> dict[str, Any]:
    """The record of a narrative, in the row layout."""
    narration = narrative.narration
    return {
        "dataset_id": narrative.source,
        "image_id": narrative.image,
        "annotator_id": narrative.annotator,
        "caption": narration.text,
        "timed_caption": [
            {"utterance": word.text, "start_time": word.start, "end_time": word.end}
            for word in narration.words
        ],
        "traces": [
            [{"x": p.x, "y": p.y, "t": p.t} for p in stroke] for stroke in narration.strokes
        ],
    }


def _scan(path: Path, report: ReportProblem) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Every record with its line, counted from 1, and the byte at which it begins."""
    offset = 0
    with path.open("rb") as file:
        for line, raw in enumerate(file, start=1):
            if raw.strip():
                record = _decode(raw, f"{path}:{line}", report)
                if record is not None:
                    yield line, offset, record
            offset += len(raw)


def _decode(raw: bytes, where: str, report: ReportProblem) -> dict[str, Any] | None:
    try:
        record = parse_json(raw)
    except UnicodeDecodeError as error:
        report(CorpusProblem("not UTF-8", where, f"the text is not UTF-8 ({error})"))
        return None
    except ValueError as error:
        report(CorpusProblem("malformed", where, f"not a line of JSON ({error})"))
        return None
    if not isinstance(record, dict):
        found = type(record).__name__
        report(CorpusProblem("malformed", where, f"found a {found}, not a JSON object"))
        return None
    return record


def _rows(table: Any) -> Sequence[Mapping[str, Any]]:
    """A table as rows, whichever way round it is stored; an absent column is an absent value."""
    if not table:
        return []
    if isinstance(table, Mapping):
        length = max(len(column) for column in table.values())
        return [
            {key: column[i] for key, column in table.items() if i < len(column)}
            for i in range(length)
        ]
    return list(table)


def _strokes(traces: Any) -> list[Sequence[Mapping[str, Any]]]:
    """Strokes as rows of points; columns may stand inside each stroke or around all of them."""
    if isinstance(traces, Mapping):
        traces = _rows(traces)
    return [_rows(stroke) for stroke in traces or []]


def _word(row: Mapping[str, Any]) -> TimedWord:
    start = float(row["start_time"])
    return TimedWord(str(row["utterance"]), start, float(row.get("end_time", start)))


def _stroke(rows: Sequence[Mapping[str, Any]]) -> tuple[Point, ...]:
    points = []
    for row in rows:
        try:
            x, y, t = row["x"], row["y"], row["t"]
            whole = math.isfinite(x + y + t)
        except (KeyError, TypeError):  # a number is missing, or something else stands in its place
            continue
        if whole:
            points.append(Point(float(x), float(y), float(t)))
    return tuple(points)
