"""The tables inside a recipe, each checked to be one."""

from collections.abc import Mapping
from typing import Any

from deixis.errors import RecipeError
from deixis.registry import convert


def table_under(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The table under a key; an empty one where there is none."""
    found = table.get(key, {})
    if not isinstance(found, Mapping):
        raise RecipeError(f"{key} is {found!r}; it must be a table")
    return dict(found)


def tables_under(table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The tables listed under a key; none where there is no such key."""
    found = table.get(key, [])
    if not isinstance(found, list | tuple):
        raise RecipeError(f"{key} is {found!r}; write tables under [[{key}]]")
    for one in found:
        if not isinstance(one, Mapping):
            raise RecipeError(f"[[{key}]] holds {one!r}; it must be a table")
    return list(found)


def seeds_of(table: Mapping[str, Any]) -> tuple[int, ...]:
    """The seeds of a recipe: whole numbers from 0 on, at least one."""
    seeds: tuple[int, ...] = convert(table.get("seeds", [0]), tuple[int, ...], "seeds")
    if not seeds or min(seeds) < 0:
        raise RecipeError(f"seeds is {list(seeds)}; give one or more whole numbers from 0 on")
    return seeds
