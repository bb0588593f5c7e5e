"""The tests' own type checks refuse what is not as annotated: values, shapes, what is returned."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import torch
from beartype import beartype
from jaxtyping import Float, TypeCheckError
from torch import Tensor

from deixis.similarity.similarity import affinity
from deixis.types import Regions
from typed_calls import checked

checked = checked(typechecker=beartype)  # as jaxtyping's hook calls it
REFUSED = TypeCheckError


@checked
def times(left: Float[Tensor, "a b"], right: Float[Tensor, "b c"]) -> Float[Tensor, "a c"]:
    return left @ right


@checked
def turned(values: Float[Tensor, "a b"]) -> Float[Tensor, "a b"]:
    return values.T


@checked
def twice(value: int) -> int:
    return value * 2 if value else "nothing"


@checked
def rows(values: Float[Tensor, "a b"]) -> Iterator[Float[Tensor, " b"]]:
    yield from values


@checked
@dataclass
class Pair:
    first: Float[Tensor, " n"]
    second: Float[Tensor, " n"] | None = None


@checked
class Longer(Pair):
    pass


def test_what_fits_passes():
    assert times(torch.ones(2, 3), torch.ones(3, 4)).shape == (2, 4)
    assert turned(torch.ones(2, 2)).shape == (2, 2)
    assert twice(2) == 4
    assert len(list(rows(torch.ones(2, 3)))) == 2
    assert Pair(torch.ones(2), second=torch.ones(2)).second is not None


@pytest.mark.parametrize(
    "call",
    [
        lambda: times(torch.ones(2, 3), torch.ones(4, 4)),
        lambda: times(torch.ones(2, 3), right=torch.ones(3)),
        lambda: times(torch.ones(2, 3), torch.ones(3, 4, dtype=torch.int64)),
        lambda: turned(torch.ones(2, 3)),
        lambda: twice("2"),
        lambda: twice(0),
        lambda: rows(torch.ones(3)),
        lambda: Pair(torch.ones(2), torch.ones(3)),
        lambda: Longer(torch.ones(2), torch.ones(3)),
    ],
)
def test_what_does_not_fit_is_refused(call):
    with pytest.raises(REFUSED):
        call()


def test_dimensions_of_one_call_do_not_bind_another():
    for size in (2, 3):
        assert times(torch.ones(size, size), torch.ones(size, 1)).shape == (size, 1)


def test_the_package_is_checked():
    with pytest.raises(REFUSED):
        Regions(torch.ones(2, 3, 4), torch.ones(2, 4, dtype=torch.bool))
    with pytest.raises(REFUSED):
        affinity(torch.ones(2, 3, 4), torch.ones(2, 3, 5), grid=True)
