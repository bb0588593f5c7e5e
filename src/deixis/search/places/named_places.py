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
# of one phrase are one region, and None is something unnamed. A phrase that the text has as often
# as it is given places has one of them each time, in order.
Points = Sequence[Place] | Mapping[str | None, Place | Sequence[Place]]


def drawing_at(text: str, points: Points) -> Drawing:
    """The drawing of someone who had outlined the places.

    >>> drawing_at("a dog and a man", {"a dog": (0.1, 0.4, 0.5, 0.9), None: (0.8, 0.2)}).links
    (Link(start=0, end=5, stroke=0),)
    >>> twice = {"a dog": [(0.1, 0.5), (0.9, 0.5)]}
    >>> drawing_at("a dog and a dog", twice).links
    (Link(start=0, end=5, stroke=0), Link(start=10, end=15, stroke=1))
    """
    if not isinstance(points, Mapping):
        return Drawing(_outlined(list(points)))
    places: list[Place] = []
    links: list[Link] = []
    loose: list[int] = []
    for phrase, given in points.items():
        several = _several(given)
        strokes = range(len(places), len(places) + len(several))
        if phrase is None:
            loose += strokes
        else:
            spans = _spans_of(text, phrase, len(several))
            links += [Link(*span, stroke) for span, stroke in zip(spans, strokes, strict=True)]
        places += several
    return Drawing(_outlined(places), links=tuple(links), loose=tuple(loose))


def read_points(said: Sequence[str]) -> dict[str | None, Sequence[Place]]:
    """Places as the command takes them: ``PHRASE=xmin,xmax,ymin,ymax``, or only numbers.

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
                f"'{one}' is not a place; wanted PHRASE=xmin,xmax,ymin,ymax, such as "
                "'a dog=0.1,0.4,0.5,0.9', from 0 to 1 with the origin top left"
            ) from None
        points.setdefault(phrase.strip() if equals else None, []).append(place)
    return dict(points)


def phrase_spans(text: str, phrase: str) -> list[tuple[int, int]]:
    """Wherever a phrase is in a text as whole words; refused when it is nowhere."""
    pattern = rf"(?<!\w){re.escape(phrase.strip())}(?!\w)"
    found = [one.span() for one in re.finditer(pattern, text, re.IGNORECASE)]
    if not found or not phrase.strip():
        raise SearchError(
            f"'{phrase}' is not in the query '{text}'; point at words of it, or give a place "
            "without words for “something is here”"
        )
    return found


def _spans_of(text: str, phrase: str, places: int) -> list[tuple[int, int]]:
    """For each place of a phrase the characters it goes with: its own, or the phrase's first."""
    spans = phrase_spans(text, phrase)
    return spans if len(spans) == places else spans[:1] * places


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
        raise SearchError(
            f"the place {shown} holds something that is not a number; x and y go from 0 to 1"
        )
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
