"""Changes to a recipe from the command line, as key=value."""

import tomllib
from typing import Any

from deixis.errors import RecipeError


def apply_override(table: dict[str, Any], text: str) -> None:
    """Change one key of a recipe's table; a value that is no TOML is a string."""
    key, equals, value = text.partition("=")
    if not equals:
        raise RecipeError(f"an override is key=value, for example train.lr=1e-3; found '{text}'")
    *path, last = key.strip().split(".")
    place: Any = table
    for name in path:
        place = place.setdefault(name, {})
        if not isinstance(place, dict):
            raise RecipeError(f"override '{text}': '{name}' is not a table")
    try:
        place[last] = tomllib.loads(f"v = {value}")["v"]
    except tomllib.TOMLDecodeError:
        place[last] = value
