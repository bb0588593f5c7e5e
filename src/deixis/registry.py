"""Names that recipes may use, and the dataclasses they stand for."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Generic, TypeVar, get_type_hints

from deixis.errors import RecipeError

T = TypeVar("T")


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
        """Enter a dataclass under a name; used as a decorator."""

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
        if name not in self._classes:
            known = ", ".join(self.names())
            raise RecipeError(f"there is no {self.kind} '{name}'; known: {known}")
        return self._classes[name]

    def build(self, name: str, options: Mapping[str, Any]) -> T:
        """Make an instance from a name and its options, as a recipe gives them."""
        cls = self.find(name)
        return build_dataclass(cls, options, f"{self.kind} '{name}'")


def build_dataclass(cls: type[T], options: Mapping[str, Any], what: str) -> T:
    """Make a dataclass from a table, refusing keys it does not have.

    TOML writes 16 where a float is meant; whole numbers become floats where the field says float,
    and arrays become tuples where it says tuple.
    """
    known = {f.name for f in fields(cls) if f.init}  # type: ignore[arg-type]
    unknown = sorted(set(options) - known)
    if unknown:
        listed = ", ".join(sorted(known)) or "none"
        raise RecipeError(f"{what} has no option '{unknown[0]}'; it takes: {listed}")
    hints = get_type_hints(cls)
    values = {key: _convert(value, hints[key]) for key, value in options.items()}
    try:
        return cls(**values)
    except TypeError as error:
        raise RecipeError(f"{what}: {error}") from error


def _convert(value: Any, hint: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and hint in (float, float | None):
        return float(value)
    if isinstance(value, list) and getattr(hint, "__origin__", hint) is tuple:
        inner = getattr(hint, "__args__", (Any,))[0]
        return tuple(_convert(item, inner) for item in value)
    return value
