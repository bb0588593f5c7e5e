"""Text files as numbered lines of UTF-8, and of JSON."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from deixis.data.parsing.problems import CorpusProblem, ReportProblem
from deixis.files import parse_json

Lines = Generator[tuple[int, str], None, None]


def numbered_lines(path: Path, report: ReportProblem) -> Lines:
    """Every line with its number, counted from 1, without its line end.

    A line that is not UTF-8 is reported and comes empty, so that those after it keep their places.
    """
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                text = raw.decode("utf-8").rstrip("\r\n")
                yield number, text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
            except UnicodeDecodeError as error:
                byte = f"byte {raw[error.start]:#04x} at {error.start + 1}"
                report(
                    CorpusProblem(
                        "not UTF-8", f"{path}:{number}", f"the text is not UTF-8 ({byte})"
                    )
                )
                yield number, ""


def json_lines(path: Path, report: ReportProblem) -> Iterator[tuple[int, dict[str, Any]]]:
    """The object of every line of JSON that is not blank, with the line's number."""
    for number, line in numbered_lines(path, report):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            record = parse_json(line)
        except ValueError as error:
            report(CorpusProblem("malformed", where, f"not a line of JSON ({error})"))
            continue
        if not isinstance(record, dict):
            found = type(record).__name__
            report(CorpusProblem("malformed", where, f"found a {found}, not a JSON object"))
            continue
        yield number, record
