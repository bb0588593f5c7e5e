"""Places given by name instead of drawn: phrases with points or boxes, as strokes of a drawing."""

import math
import re
from collections.abc import Mapping, Sequence

from deixis.errors import SearchError
from deixis.features.trace.cleaning import Stroke
from deixis.features.trace.drawing import Drawing, Link
from deixis.features.trace.narration import Point

CLICK = 0.05  # half the side of the square that a point stands for
SIDE = 0.5  # seconds for one side of a box, as if it had been drawn

Place = Sequence[float]  # x, y; or xmin, xmax, ymin, ymax; 0 to 1, origin top left
# Places alone go with the phrases of the text in order. By phrase they are linked; several places
# of one phrase are one region, and None is something unnamed.
Points = Sequence[Place] | Mapping[str | None, Place | Sequence[Place]]


def drawing_at(text: str, points: Points) -> Drawing:
    """The drawing of someone who had outlined the places.

    >>> drawing_at("a dog and a man", {"a dog": (0.1, 0.4, 0.5, 0.9), None: (0.8, 0.2)}).links
    (Link(start=0, end=5, stroke=0),)
    """
    if not isinstance(points, Mapping):
        return Drawing(_outlined(list(points)))
    places: list[Place] = []
    links: list[Link] = []
    loose: list[int] = []
    for phrase, given in points.items():
        for place in _several(given):
            if phrase is None:
                loose.append(len(places))
            else:
                links.append(Link(*phrase_span(text, phrase), len(places)))
            places.append(place)
    return Drawing(_outlined(places), links=tuple(links), loose=tuple(loose))


def read_points(said: Sequence[str]) -> dict[str | None, Sequence[Place]]:
    """Places as the command takes them: ``PHRASE=xmin,xmax,ymin,ymax``, or numbers alone.

    >>> read_points(["a dog=0.1,0.4,0.5,0.9", "0.7,0.9,0,0.2"])
    {'a dog': [(0.1, 0.4, 0.5, 0.9)], None: [(0.7, 0.9, 0.0, 0.2)]}
    """
    points: dict[str | None, list[Place]] = {}
    for one in said:
        phrase, equals, numbers = one.rpartition("=")
        try:
            place = tuple(float(number) for number in numbers.split(","))
        except ValueError:
            raise SearchError(
                f"'{one}' is no place; wanted PHRASE=xmin,xmax,ymin,ymax, such as "
                "'a dog=0.1,0.4,0.5,0.9', from 0 to 1 with the origin top left"
            ) from None
        points.setdefault(phrase.strip() if equals else None, []).append(place)
    return dict(points)


def phrase_span(text: str, phrase: str) -> tuple[int, int]:
    """The characters of a text that are a phrase, refused when it is not there as whole words."""
    found = re.search(rf"(?<!\w){re.escape(phrase.strip())}(?!\w)", text, re.IGNORECASE)
    if found is None or not phrase.strip():
        raise SearchError(
            f"'{phrase}' is not in the query '{text}'; point at words of it, or give a place "
            "without words for “something is here”"
        )
    return found.span()


def _several(given: Place | Sequence[Place]) -> Sequence[Place]:
    one = len(given) > 0 and all(isinstance(number, int | float) for number in given)
    return [given] if one else given  # type: ignore[list-item, return-value]


def _outlined(places: Sequence[Place]) -> tuple[Stroke, ...]:
    """A stroke around each place, one after the other."""
    strokes = []
    for number, place in enumerate(places):
        xmin, xmax, ymin, ymax = _box(place)
        corners = [(xmin, ymin), (xmax, ymin), (xmax, ymax), (xmin, ymax), (xmin, ymin)]
        first = 5 * SIDE * number
        strokes.append(tuple(Point(x, y, first + SIDE * i) for i, (x, y) in enumerate(corners)))
    return tuple(strokes)


def _box(place: Place) -> tuple[float, float, float, float]:
    numbers = tuple(float(number) for number in place)
    shown = ",".join(f"{number:g}" for number in numbers)
    if len(numbers) not in (2, 4) or not all(0 <= n <= 1 for n in numbers if not math.isnan(n)):
        raise SearchError(
            f"the place {shown} cannot be read; wanted x,y or xmin,xmax,ymin,ymax, each from 0 to "
            "1 with the origin top left"
        )
    if any(math.isnan(number) for number in numbers):
        raise SearchError(f"the place {shown} holds what is no number; x and y go from 0 to 1")
    if len(numbers) == 2:
        (x, y) = numbers
        return x - CLICK, x + CLICK, y - CLICK, y + CLICK
    xmin, xmax, ymin, ymax = numbers
    if xmin >= xmax or ymin >= ymax:
        raise SearchError(
            f"the box {shown} has no area; wanted xmin < xmax and ymin < ymax, in the order "
            "xmin,xmax,ymin,ymax"
        )
    return xmin, xmax, ymin, ymax
