"""The table of pointing: a line per way to point, several seeds side by side."""

import statistics
from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from deixis.evaluation.places.places_result import PlacesResult

NOTE = (
    "Places are human boxes, moved and resized by a simulated hand. A good part of the gain comes "
    "from 'something is here': see the line without words."
)
HEADINGS = ("", "all phrases: R@1 / 5 / 10", "gain in R@1 (95 %)", "first phrase: R@1 / 5 / 10")


def places_rows(results: Sequence[PlacesResult]) -> list[list[str]]:
    """Cells as text; means over seeds, gains and intervals too."""
    rows = []
    for number, line in enumerate(results[0].lines):
        lines = [result.lines[number] for result in results]
        gains = [one.gain for one in lines if one.gain is not None]
        rows.append(
            [
                line.label,
                _rates([one.every for one in lines]),
                _gain(gains) if gains else "",
                _rates([one.first for one in lines]) if line.first else "",
            ]
        )
    return rows


def places_notes(results: Sequence[PlacesResult]) -> list[str]:
    """The pointing game and the twins in sentences."""
    game = {key: _mean([one.game.get(key, 0.0) for one in results]) for key in results[0].game}
    kinds = sorted(set(game) - {"all", "centre", "random"}, key=lambda kind: -game[kind])
    first = ", ".join(f"{kind} {game[kind]:.0f}" for kind in kinds)
    return [
        f"pointing game {_spread([one.game['all'] for one in results])} % ({first}); "
        f"centre {game['centre']:.1f}, random {game['random']:.1f}",
        *_twins("the score that ranks, places as remembered", [r.ranked_twins for r in results]),
        *_twins("the mean of the map, places as remembered", [r.twins for r in results]),
        *_twins("the mean of the map, places as drawn", [r.exact_twins for r in results]),
        f"{results[0].images} images, {results[0].lines[0].queries} texts; {NOTE}",
    ]


def _twins(which: str, each: Sequence[Mapping[str, float]]) -> list[str]:
    if not each[0]:
        return []
    phrase, text = (_spread([one[by] for one in each]) for by in ("phrase", "text"))
    return [f"mirrored twins by {which}: {phrase} % of phrases, {text} % of texts"]


def places_terminal(title: str, results: Sequence[PlacesResult]) -> Table:
    """For a terminal."""
    caption = Text("\n".join(places_notes(results)))
    table = Table(title=Text(title), caption=caption, title_justify="left", caption_justify="left")
    for place, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if place else "left")
    for row in places_rows(results):
        table.add_row(*map(Text, row))
    return table


def places_markdown(results: Sequence[PlacesResult]) -> str:
    """For a document."""
    lines = [list(HEADINGS), ["---", *["---:"] * (len(HEADINGS) - 1)], *places_rows(results)]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return body + "\n\n" + "\n\n".join(places_notes(results)) + "\n"


def _rates(each: Sequence[Sequence[float]]) -> str:
    return " / ".join(_spread(values) for values in zip(*each, strict=True))


def _spread(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.1f}"
    return f"{_mean(values):.1f} ± {statistics.stdev(values):.1f}"


def _gain(gains: Sequence[tuple[float, float, float]]) -> str:
    gain, low, high = (_mean(values) for values in zip(*gains, strict=True))
    return f"{gain:+.1f} ({low:+.1f} … {high:+.1f})"


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values)
