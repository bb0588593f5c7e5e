"""Changes to a recipe from the command line, as key=value."""

import tomllib
from typing import Any

from deixis.errors import RecipeError
from deixis.recipes.recipe_tables import tables_under

OF_ROWS = ("data", "train")  # tables that rows change for themselves


def apply_override(table: dict[str, Any], text: str, label: str = "") -> None:
    """Change one key of a recipe's table; a value that is not TOML is a string.

    Rows that set the key for themselves keep it, except the one with the ``label``. A change that
    reaches no row is refused.
    """
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
    if len(path) == 1 and path[0] in OF_ROWS:
        _reach_rows(table, path[0], last, place[last], label)


def _reach_rows(table: dict[str, Any], kind: str, key: str, value: Any, label: str) -> None:
    rows = [row for row in tables_under(table, "row") if isinstance(row.get(kind, {}), dict)]
    keep = [row for row in rows if key in row.get(kind, {})]
    named = [row for row in keep if row.get("label", row.get("method", {}).get("name")) == label]
    for row in named:
        row[kind][key] = value
    if keep and len(keep) == len(rows) and not named:
        raise RecipeError(
            f"{kind}.{key} changes nothing: every row sets its own; deixis train --row changes it "
            "for one row, the recipe's file for all"
        )
