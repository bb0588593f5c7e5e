"""Text files as numbered lines of UTF-8, and of JSON."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deixis.data.problems import Problem, Tell

Lines = Iterator[tuple[int, str]]


def numbered_lines(path: Path, tell: Tell) -> Lines:
    """Every line with its number, counted from 1, without its line end.

    A line that is not UTF-8 is told of and comes empty, so that those after it keep their places.
    """
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                text = raw.decode("utf-8").rstrip("\r\n")
                yield number, text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
            except UnicodeDecodeError as error:
                byte = f"byte {raw[error.start]:#04x} at {error.start + 1}"
                tell(Problem("not UTF-8", f"{path}:{number}", f"the text is not UTF-8 ({byte})"))
                yield number, ""


def json_lines(path: Path, tell: Tell) -> Iterator[tuple[int, dict[str, Any]]]:
    """The object of every line of JSON that is not blank, with the line's number."""
    for number, line in numbered_lines(path, tell):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            record = json.loads(line)
        except ValueError as error:
            tell(Problem("malformed", where, f"not a line of JSON ({error})"))
            continue
        if not isinstance(record, dict):
            found = type(record).__name__
            tell(Problem("malformed", where, f"found a {found}, not a JSON object"))
            continue
        yield number, record
