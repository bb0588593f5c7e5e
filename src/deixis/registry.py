"""Names that recipes may use, and the dataclasses they stand for."""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import UnionType
from typing import (
    Any,
    Generic,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from deixis.errors import RecipeError

T = TypeVar("T")
LARGEST = 2**48  # beyond it torch counts bytes in numbers that overflow


class Registry(Generic[T]):
    """A closed table from names to dataclasses; an unknown name or option lists the known ones.

    >>> from dataclasses import dataclass
    >>> shapes = Registry("shape")
    >>> @shapes.register("circle")
    ... @dataclass(frozen=True)
    ... class Circle:
    ...     radius: float = 1.0
    >>> shapes.build("circle", {"radius": 2})
    Circle(radius=2.0)
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._classes: dict[str, type[T]] = {}

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Enter a dataclass under a name; used as a decorator.

        ```python
        @deixis.register("mine")
        @dataclass(frozen=True)
        class Mine(deixis.Method): ...
        ```
        """

        def enter(cls: type[T]) -> type[T]:
            if name in self._classes:
                raise ValueError(f"{self.kind} '{name}' is registered twice")
            self._classes[name] = cls
            return cls

        return enter

    def names(self) -> tuple[str, ...]:
        """All known names, in alphabetical order."""
        return tuple(sorted(self._classes))

    def find(self, name: str) -> type[T]:
        """Return the class behind a name."""
        if not isinstance(name, str) or name not in self._classes:
            known = ", ".join(self.names())
            raise RecipeError(f"there is no {self.kind} '{name}'; known: {known}")
        return self._classes[name]

    def build(self, name: str, options: Mapping[str, Any]) -> T:
        """Make an instance from a name and its options, as a recipe gives them."""
        cls = self.find(name)
        return build_dataclass(cls, options, f"{self.kind} '{name}'")


def build_dataclass(cls: type[T], options: object, what: str) -> T:
    """Make a dataclass from a table, refusing keys it does not have.

    TOML writes 16 where a float is meant; whole numbers become floats where the field says float,
    and arrays become tuples where it says tuple.
    """
    if not isinstance(options, Mapping):
        raise RecipeError(f"{what} is {options!r}; it must be a table")
    known = {f.name for f in fields(cls) if f.init}  # type: ignore[arg-type]
    unknown = sorted(map(str, set(options) - known))
    if unknown:
        listed = ", ".join(sorted(known)) or "none"
        raise RecipeError(f"{what} has no option '{unknown[0]}'; it takes: {listed}")
    hints = get_type_hints(cls)
    values = {key: convert(value, hints[key], f"{what}: {key}") for key, value in options.items()}
    try:
        return cls(**values)
    except TypeError as error:
        raise RecipeError(f"{what}: {error}") from error


def convert(value: Any, hint: Any, what: str) -> Any:
    """Check a value read from TOML against a type, turning whole numbers and arrays as needed."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _first_that_fits(value, inner, what)
    if origin is Literal:
        if value in inner:
            return value
    elif origin is tuple and isinstance(value, list | tuple):
        return tuple(convert(item, inner[0], what) for item in value)
    elif origin in (dict, Mapping) and isinstance(value, Mapping):
        return {key: convert(item, inner[1], f"{what}.{key}") for key, item in value.items()}
    elif hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, what)
    elif _is_a(value, hint):
        if type(value) is int and abs(value) > LARGEST:
            raise RecipeError(f"{what} is {value}; no size or count is that large")
        return value
    wanted = " or ".join(map(repr, inner)) if origin is Literal else getattr(hint, "__name__", hint)
    raise RecipeError(f"{what} is {value!r}; it must be {wanted}")


def _number(value: int | float, what: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isnan(number) or (isinstance(value, int) and math.isinf(number)):
        raise RecipeError(f"{what} is {number}; it must be a number")
    return number


def _is_a(value: Any, hint: Any) -> bool:
    # A bool is an int to Python, but not to whoever wrote the recipe.
    if hint in (int, str, bool):
        return type(value) is hint
    return hint is Any or (isinstance(hint, type) and isinstance(value, hint))


def _first_that_fits(value: Any, hints: tuple[Any, ...], what: str) -> Any:
    for hint in hints:
        try:
            return convert(value, hint, what)
        except RecipeError:
            continue
    wanted = " or ".join(getattr(hint, "__name__", str(hint)) for hint in hints)
    raise RecipeError(f"{what} is {value!r}; it must be {wanted}")
