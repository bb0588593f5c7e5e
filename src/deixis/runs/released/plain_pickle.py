"""Pickles read as data: nothing in them is imported, called or executed.

The standard library's unpickler runs whatever a file asks for. Here the operations of a pickle are
listed by ``pickletools`` and replayed on a stack of plain values; a name is text, never an object.
"""

import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO
from typing import Any

from deixis.errors import DataError

Build = Callable[..., Any]
File = BufferedReader | BytesIO
CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
EMPTY: Mapping[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple, "EMPTY_SET": set,
}  # fmt: skip
TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
NUMBERS = {"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"}
TEXTS = {"UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"}
STRINGS = {"STRING", "BINSTRING", "SHORT_BINSTRING"}  # of Python 2: bytes, mostly of UTF-8
BYTES = {"BINBYTES", "SHORT_BINBYTES", "BINBYTES8"}
NOTES = {"PROTO", "FRAME"}
MOST = 5_000_000  # values a pickle may hold, those it repeats by reference counted each time


@dataclass(frozen=True)
class Name:
    """A name a pickle mentions; it stays a name."""

    path: str


@dataclass(frozen=True)
class Allowed:
    """What a pickle may ask for: our own builders by published name, and records read as dicts."""

    builders: Mapping[str, Build] = field(default_factory=dict)
    records: tuple[str, ...] = ()  # ends of names whose instances are read as their attributes
    names: tuple[str, ...] = ()  # ends of names that are only mentioned
    stored: Build | None = None  # what a persistent id stands for

    def check(self, path: str) -> Name:
        """The name, when it is one that is allowed."""
        if path in self.builders or path.endswith((*self.records, *self.names)):
            return Name(path)
        raise DataError(f"it asks for {path}, which is neither text, number, list nor table")


def read_plain(file: File, allowed: Allowed, what: str) -> Any:
    """The value of the next pickle in a file; anything but plain data is refused."""
    try:
        return _Replay(allowed).run(file)
    except DataError as error:
        raise DataError(f"{what} cannot be read safely: {error}") from None
    except MemoryError:
        raise DataError(f"{what} is not a whole pickle: it announces more than fits") from None
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, RecursionError) as error:
        raise DataError(f"{what} is not a whole pickle: {error}") from error


@dataclass
class _Replay:
    allowed: Allowed
    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)
    left: int = MOST

    def run(self, file: File) -> Any:
        for code, argument, _ in pickletools.genops(file):
            if code.name == "STOP":
                return self._bounded(self.stack.pop())
            if code.name not in NOTES:
                self._apply(code.name, argument)
        raise ValueError("it has no end")

    def _apply(self, code: str, argument: Any) -> None:
        if code in CONSTANTS:
            self.stack.append(CONSTANTS[code])
        elif code in EMPTY:
            self.stack.append(EMPTY[code]())
        elif code in NUMBERS or code in TEXTS or code in BYTES:
            self.stack.append(argument)
        elif code in STRINGS:
            self.stack.append(_decoded(argument))
        elif code in TUPLES:
            self._tuple(TUPLES[code])
        else:
            step = getattr(self, f"_{code.lower()}", None)
            if step is None:
                raise DataError(f"it holds the operation {code}, which no plain data needs")
            step(argument)

    def _tuple(self, length: int | None = None) -> None:
        if length is None:
            self.stack.append(tuple(self._above_mark()))
        else:
            self.stack[-length:] = [tuple(self.stack[-length:])]

    def _bounded(self, value: Any) -> Any:
        """The value, refused when written out it would be too much to compare, hash or print.

        A pair of a pair of a pair … takes two bytes per level and doubles with each.
        """
        todo = [value]
        while todo:
            one = todo.pop()
            inside = one if isinstance(one, dict | list | tuple | set) else ()
            self.left -= len(inside)
            if self.left < 0:
                raise DataError(f"it repeats its values until there are more than {MOST:,}")
            todo += [*inside, *inside.values()] if isinstance(inside, dict) else inside
        return value

    def _mark(self, _: Any) -> None:
        self.marks.append(len(self.stack))

    def _above_mark(self) -> list[Any]:
        start = self.marks.pop()
        found = self.stack[start:]
        del self.stack[start:]
        return found

    def _list(self, _: Any) -> None:
        self.stack.append(self._above_mark())

    def _dict(self, _: Any) -> None:
        self.stack.append(_pairs(self._above_mark()))

    def _append(self, _: Any) -> None:
        value = self.stack.pop()
        self._top(list).append(value)

    def _appends(self, _: Any) -> None:
        values = self._above_mark()
        self._top(list).extend(values)

    def _additems(self, _: Any) -> None:
        values = self._above_mark()
        self._top(set).update(map(_key, values))

    def _setitem(self, _: Any) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._top(dict)[_key(key)] = value

    def _setitems(self, _: Any) -> None:
        values = self._above_mark()
        self._top(dict).update(_pairs(values))

    def _top(self, kind: type) -> Any:
        if type(self.stack[-1]) is not kind:
            raise DataError(f"it fills a {type(self.stack[-1]).__name__} as if it were a table")
        return self.stack[-1]

    def _pop(self, _: Any) -> None:
        self.stack.pop()

    def _dup(self, _: Any) -> None:
        self.stack.append(self.stack[-1])

    def _put(self, place: int) -> None:
        self.memo[int(place)] = self.stack[-1]

    _binput = _long_binput = _put

    def _memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def _get(self, place: int) -> None:
        self.stack.append(self.memo[int(place)])

    _binget = _long_binget = _get

    def _global(self, path: str) -> None:
        self.stack.append(self.allowed.check(path.replace(" ", ".")))

    def _stack_global(self, _: Any) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.stack.append(self.allowed.check(f"{module}.{name}"))

    def _reduce(self, _: Any) -> None:
        arguments, name = self._bounded(self.stack.pop()), self.stack.pop()
        builder = self.allowed.builders.get(name.path)
        if builder is None:
            raise DataError(f"it wants {name.path} called, which is never done")
        self.stack.append(builder(*arguments))

    def _newobj(self, _: Any) -> None:
        _, name = self.stack.pop(), self.stack.pop()
        if not name.path.endswith(self.allowed.records):
            raise DataError(f"it wants a {name.path} made, which is never done")
        self.stack.append({})

    def _build(self, _: Any) -> None:
        """A record's attributes; the state of anything else says nothing that is needed."""
        state = self.stack.pop()
        if type(self.stack[-1]) is dict and type(state) is dict:
            self.stack[-1].update(state)

    def _binpersid(self, _: Any) -> None:
        if self.allowed.stored is None:
            raise DataError("it refers to something outside the file")
        self.stack.append(self.allowed.stored(*self._bounded(self.stack.pop())))


def _pairs(values: list[Any]) -> dict[Any, Any]:
    return dict(zip(map(_key, values[::2]), values[1::2], strict=True))


def _key(value: Any) -> Any:
    """A key of a table; looking up a pair of pairs of pairs would never end."""
    if isinstance(value, tuple):
        raise DataError("it looks up a tuple, which no table of names does")
    return value


def _decoded(text: str) -> str:
    """A string of Python 2, which ``pickletools`` shows byte by byte."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text
