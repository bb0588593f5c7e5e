"""Large JSON files read item by item, so that memory stays flat and problems have a line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from deixis.errors import DataError

CHUNK = 1 << 20  # characters read at a time


@dataclass(frozen=True, slots=True)
class Item:
    """An element of an array, or a whole value, under a key of the outermost object."""

    key: str
    place: int  # in the array; 0 for a value that is not one
    line: int
    value: Any


def stream_json(path: Path) -> Iterator[Item]:
    """Yield the value of each key of a JSON object, arrays element by element.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = path.write_text('{"name": "x", "images": [{"id": 1}, {"id": 2}]}')
    >>> [(item.key, item.place, item.value) for item in stream_json(path)]
    [('name', 0, 'x'), ('images', 0, {'id': 1}), ('images', 1, {'id': 2})]
    """
    with path.open(encoding="utf-8") as file:
        try:
            yield from _Scanner(file, path).items()
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: the text is not UTF-8 ({error})") from error


class _Scanner:
    """A window that moves over the file; ``at`` is the next character not yet used."""

    def __init__(self, file: TextIO, path: Path) -> None:
        self._file, self._path = file, path
        self._text, self._at, self._line = "", 0, 1
        self._decoder = json.JSONDecoder()

    def items(self) -> Iterator[Item]:
        self._expect("{")
        while self._peek() != "}":
            key = str(self._value())
            self._expect(":")
            if self._peek() == "[":
                self._at += 1
                yield from self._elements(key)
            else:
                line = self._line
                yield Item(key, 0, line, self._value())
            if self._peek() != "}":
                self._expect(",")

    def _elements(self, key: str) -> Iterator[Item]:
        place = 0
        while self._peek() != "]":
            line = self._line
            yield Item(key, place, line, self._value())
            place += 1
            if self._peek() != "]":
                self._expect(",")
        self._at += 1

    def _value(self) -> Any:
        """The value that begins here; more is read until it is whole and something follows it."""
        self._peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
                if end < len(self._text) or not self._more():
                    break
            except RecursionError as error:
                raise self._wrong("it is nested too deeply") from error
            except ValueError as error:
                if not self._more():
                    raise self._wrong(str(error)) from error
        self._line += self._text.count("\n", self._at, end)
        self._at = end
        return value

    def _peek(self) -> str:
        """The next character that is not blank, left where it is."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
                self._line += self._text[self._at] == "\n"
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                raise self._wrong("the file ends too early")

    def _expect(self, character: str) -> None:
        found = self._peek()
        if found != character:
            raise self._wrong(f"found {found!r}, wanted {character!r}")
        self._at += 1

    def _more(self) -> bool:
        chunk = self._file.read(CHUNK)
        self._text, self._at = self._text[self._at :] + chunk, 0
        return bool(chunk)

    def _wrong(self, why: str) -> DataError:
        return DataError(f"{self._path}:{self._line}: not JSON as expected ({why})")
