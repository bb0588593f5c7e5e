"""How towers are named: ``hf:PATH`` or ``tuned:PATH``, and ``PATH@512`` for another input size."""

import re

from deixis.errors import RecipeError

_SIDED = re.compile(r"(.+)@(\d+)")


def split_side(path: str) -> tuple[str, int]:
    """The path of a tower and the side of its square input in pixels; 0: its own.

    >>> split_side("data/resnext101@512"), split_side("me@home/clip")
    (('data/resnext101', 512), ('me@home/clip', 0))
    """
    found = _SIDED.fullmatch(path)
    return (found[1], int(found[2])) if found else (path, 0)


def with_side(name: str, side: int) -> str:
    """The name of a tower that is shown squares of a given number of pixels.

    >>> with_side("tuned:data/resnext101", 512)
    'tuned:data/resnext101@512'
    """
    kind, _, path = name.partition(":")
    if kind not in ("hf", "tuned") or "+" in name:
        raise RecipeError(
            f"data.side is {side}, but data.image is '{name}', which has a size of its own; "
            "it goes with one tower, as 'hf:PATH' or 'tuned:PATH'"
        )
    return f"{kind}:{split_side(path)[0]}@{side}"
