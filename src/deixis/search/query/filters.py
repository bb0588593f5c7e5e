"""Which pictures may be found at all: a small language of conditions, applied before ranking.

``label:dog AND (path:holiday OR after:2024-06-01) AND NOT word:snow``

A condition is ``name:value``; a value with blanks goes in double quotes. NOT binds closer than
AND, AND closer than OR; two conditions side by side mean AND.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from deixis.errors import FilterError
from deixis.search.query.whole_characters import require_whole

_TOKEN = re.compile(r'\s*(?:(\()|(\))|(\w+):(?:"([^"]*)"|([^\s()"]+))|(\S+))')
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_PERIOD = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
_CIRCLE = re.compile(r"(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?),(\d+(?:\.\d+)?)(km|m)", re.IGNORECASE)
_DISTANCES = {"km": 1.0, "m": 0.001}
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
    parser = _Parser(require_whole(said, "the filter", FilterError))
    sql = parser.either(0)
    if parser.next is not None:
        raise parser.refusal(f"'{parser.next}' was not expected here")
    return Filter(said, sql, tuple(parser.parameters))


def optional_filter(said: str | None) -> Filter | None:
    """Read a condition where one is given."""
    return parse_filter(said) if said and said.strip() else None


class _Parser:
    """Recursive descent: either → both → single."""

    def __init__(self, said: str) -> None:
        self.said, self.parameters, self._at = said, list[Any](), 0
        self.next: str | None = None
        self._step()

    def refusal(self, why: str) -> FilterError:
        known = ", ".join(sorted(_CONDITIONS))
        return FilterError(
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
            self.parameters += read(self._value)
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


def _period(value: str) -> tuple[str, str]:
    """The first moment of a period and the first one after it, as texts that sort.

    >>> _period("2024-06..2024-08"), _period("2024-12-31")
    (('2024-06', '2024-09'), ('2024-12-31', '2025-01-01'))
    """
    first, dots, last = value.partition("..")
    _after(first)
    return first, _after(last if dots else first)


def _after(period: str) -> str:
    """The year, month or day that follows one."""
    if not _PERIOD.fullmatch(period):
        raise ValueError("a time is a year, a month or a day, such as 2024-06 or 2024-06..2024-08")
    year, month, day = (int(part) for part in (*period.split("-"), "1", "1")[:3])
    begins = date(year, month, day)
    if len(period) == len("2024"):
        return f"{year + 1:04}"
    if len(period) == len("2024-06"):
        return f"{year + month // 12:04}-{month % 12 + 1:02}"
    return (begins + timedelta(days=1)).isoformat()


def _circle(value: str) -> tuple[float, float, float]:
    """Degrees north and east, and a distance in kilometres.

    >>> _circle("48.1,11.6,5km"), _circle("-33.9,151.2,800m")
    ((48.1, 11.6, 5.0), (-33.9, 151.2, 0.8))
    """
    found = _CIRCLE.fullmatch(value)
    if found is None or abs(float(found[1])) > 90 or abs(float(found[2])) > 180:
        raise ValueError("a place is latitude,longitude,distance, such as 48.1,11.6,5km")
    return float(found[1]), float(found[2]), float(found[3]) * _DISTANCES[found[4].lower()]


def _one(read: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    """A condition with a single parameter."""
    return lambda value: (read(value),)


_NOTE = "EXISTS (SELECT 1 FROM note WHERE note.path = file.path AND kind = '{}' AND value = ?)"
_SHOT = "EXISTS (SELECT 1 FROM shot WHERE shot.hash = file.hash AND {})"
_CONDITIONS: dict[str, tuple[str, Callable[[str], tuple[Any, ...]]]] = {
    "path": ("instr(folded(file.path), ?) > 0", _one(str.casefold)),
    "after": ("file.mtime_ns >= ?", _one(_moment)),
    "before": ("file.mtime_ns < ?", _one(_moment)),
    "larger": ("file.size >= ?", _one(_bytes)),
    "smaller": ("file.size < ?", _one(_bytes)),
    "label": (_NOTE.format("label"), _one(str.casefold)),
    "word": (_NOTE.format("word"), _one(str.casefold)),
    "taken": (_SHOT.format("taken >= ? AND taken < ?"), _period),
    "near": (_SHOT.format("kilometres(latitude, longitude, ?, ?) <= ?"), _circle),
}
