"""Unknown names and options are refused by naming the known ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pytest

from deixis.errors import RecipeError
from deixis.registry import Registry, build_dataclass


@dataclass(frozen=True)
class Shape:
    radius: float = 1.0
    corners: tuple[float, ...] = ()
    kind: Literal["round", "flat"] = "round"
    until: int | str = 0
    rates: Mapping[str, float] = field(default_factory=dict)


def shapes() -> Registry[Shape]:
    registry: Registry[Shape] = Registry("shape")
    registry.register("circle")(Shape)
    return registry


def test_whole_numbers_become_floats_and_arrays_become_tuples():
    assert shapes().build("circle", {"radius": 2, "corners": [1, 2]}) == Shape(2.0, (1.0, 2.0))


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(RecipeError, match="no shape 'square'; known: circle"):
        shapes().build("square", {})


def test_an_unknown_option_lists_the_known_ones():
    with pytest.raises(RecipeError, match="'circle' has no option 'size'; it takes: corners, kind"):
        shapes().build("circle", {"size": 1})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": "wide"}, "'circle': radius is 'wide'; it must be float"),
        ({"kind": "oval"}, "kind is 'oval'; it must be 'round' or 'flat'"),
        ({"until": 1.5}, "until is 1.5; it must be int or str"),
        ({"rates": {"a": "x"}}, "rates.a is 'x'; it must be float"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_its_key(options, message):
    with pytest.raises(RecipeError, match=message):
        shapes().build("circle", options)


def test_a_name_cannot_be_taken_twice():
    registry = shapes()
    with pytest.raises(ValueError, match="twice"):
        registry.register("circle")(Shape)


def test_a_missing_option_is_a_recipe_error():
    @dataclass
    class Needs:
        size: int

    with pytest.raises(RecipeError, match="size"):
        build_dataclass(Needs, {}, "needs")
