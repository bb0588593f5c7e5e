"""Which pictures may be found at all: a small language of conditions, applied before ranking.

``label:dog AND (path:holiday OR after:2024-06-01) AND NOT word:snow``

A condition is ``name:value``; a value with blanks goes in double quotes. NOT binds closer than
AND, AND closer than OR; two conditions side by side mean AND.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from deixis.errors import SearchError

_TOKEN = re.compile(r'\s*(?:(\()|(\))|(\w+):(?:"([^"]*)"|([^\s()"]+))|(\S+))')
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_DEEPEST = 50  # nested parentheses and NOTs


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on files: SQL over the manifest's ``file`` table, and its parameters.

    A picture passes when one of its files does.
    """

    said: str
    sql: str
    parameters: tuple[Any, ...]


def parse_filter(said: str) -> Filter:
    """Read a condition, refusing what it does not understand.

    >>> parse_filter('label:dog NOT path:"old ones"').parameters
    ('dog', 'old ones')
    """
    parser = _Parser(said)
    sql = parser.either(0)
    if parser.next is not None:
        raise parser.refusal(f"'{parser.next}' was not expected here")
    return Filter(said, sql, tuple(parser.parameters))


class _Parser:
    """Recursive descent: either → both → single."""

    def __init__(self, said: str) -> None:
        self.said, self.parameters, self._at = said, list[Any](), 0
        self.next: str | None = None
        self._step()

    def refusal(self, why: str) -> SearchError:
        known = ", ".join(sorted(_CONDITIONS))
        return SearchError(
            f"the filter '{self.said}' cannot be read: {why}. Conditions are name:value with one "
            f"of {known}, joined by AND, OR, NOT and parentheses"
        )

    def either(self, depth: int) -> str:
        terms = [self._both(depth)]
        while self.next == "OR":
            self._step()
            terms.append(self._both(depth))
        return f"({' OR '.join(terms)})"

    def _both(self, depth: int) -> str:
        terms = [self._single(depth)]
        while self.next is not None and self.next not in ("OR", ")"):
            if self.next == "AND":
                self._step()
            terms.append(self._single(depth))
        return f"({' AND '.join(terms)})"

    def _single(self, depth: int) -> str:
        if depth > _DEEPEST:
            raise self.refusal("it is nested too deeply")
        if self.next == "NOT":
            self._step()
            return f"NOT {self._single(depth + 1)}"
        if self.next == "(":
            self._step()
            inside = self.either(depth + 1)
            if self.next != ")":
                raise self.refusal("a parenthesis is not closed")
            self._step()
            return inside
        return self._condition()

    def _condition(self) -> str:
        if self.next is None:
            raise self.refusal("it ends where a condition should be")
        if self._name is None:
            raise self.refusal(f"'{self.next}' is no condition")
        if self._name not in _CONDITIONS:
            raise self.refusal(f"there is no condition '{self._name}'")
        sql, read = _CONDITIONS[self._name]
        try:
            self.parameters.append(read(self._value))
        except (ValueError, OverflowError) as error:
            raise self.refusal(f"'{self.next}': {error}") from error
        self._step()
        return sql

    def _step(self) -> None:
        found = _TOKEN.match(self.said, self._at)
        if found is None:
            self.next, self._name = None, None
            return
        self._at = found.end()
        self.next = found.group().strip()
        self._name = found.group(3) and found.group(3).lower()
        self._value = found.group(5) if found.group(4) is None else found.group(4)


def _moment(value: str) -> int:
    """Nanoseconds since 1970 of a date or time; without a zone it is taken as UTC."""
    moment = datetime.fromisoformat(value)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return _stored(int(moment.timestamp()) * 1_000_000_000)


def _bytes(value: str) -> int:
    found = _SIZE.fullmatch(value)
    if found is None:
        raise ValueError("a size is a number of bytes, or with kB, MB, GB")
    return _stored(int(float(found[1]) * _UNITS[found[2].lower()]))


def _stored(value: int) -> int:
    """The nearest number SQLite can hold: no file is newer or larger than that."""
    return max(min(value, 2**63 - 1), -(2**63))


_NOTE = "EXISTS (SELECT 1 FROM note WHERE note.path = file.path AND kind = '{}' AND value = ?)"
_CONDITIONS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "path": ("instr(folded(file.path), ?) > 0", str.casefold),
    "after": ("file.mtime_ns >= ?", _moment),
    "before": ("file.mtime_ns < ?", _moment),
    "larger": ("file.size >= ?", _bytes),
    "smaller": ("file.size < ?", _bytes),
    "label": (_NOTE.format("label"), str.casefold),
    "word": (_NOTE.format("word"), str.casefold),
}
