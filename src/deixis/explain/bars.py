"""Counts of several runs as bars side by side, in one SVG."""

from collections.abc import Mapping
from html import escape

COLOURS = ("#4063d8", "#e08214", "#389826", "#9558b2", "#555555")
BAR, GAP, HEIGHT, LEFT, TOP, BOTTOM = 18, 24, 220, 56, 56, 40


def bars(title: str, counts: Mapping[str, Mapping[str, int]]) -> str:
    """Draw counts by run and bin; every run has the same bins."""
    bins = list(next(iter(counts.values())))
    highest = max(1, *(n for run in counts.values() for n in run.values()))
    step = BAR * len(counts) + GAP
    width = LEFT + step * len(bins) + GAP
    parts = ['<rect width="100%" height="100%" fill="white"/>']  # readable on a dark page too
    parts.append(f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>')
    for number, (label, run) in enumerate(counts.items()):
        colour = COLOURS[number % len(COLOURS)]
        parts.append(_legend(label, colour, number))
        for place, name in enumerate(bins):
            height = HEIGHT * run[name] / highest
            x, y = LEFT + place * step + number * BAR, TOP + HEIGHT - height
            told = f"<title>{escape(label)}, {escape(name)}: {run[name]}</title>"
            parts.append(
                f'<rect x="{x}" y="{y:.1f}" width="{BAR - 2}" height="{height:.1f}" '
                f'fill="{colour}">{told}</rect>'
            )
    for place, name in enumerate(bins):
        middle, below = LEFT + place * step + BAR * len(counts) // 2, TOP + HEIGHT + 18
        parts.append(f'<text x="{middle}" y="{below}" text-anchor="middle">{escape(name)}</text>')
    parts.append(f'<text x="{LEFT - 8}" y="{TOP + 5}" text-anchor="end">{highest}</text>')
    parts.append(f'<text x="{LEFT - 8}" y="{TOP + HEIGHT}" text-anchor="end">0</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + BOTTOM}" '
        f'font-family="sans-serif" font-size="11">{"".join(parts)}</svg>\n'
    )


def _legend(label: str, colour: str, number: int) -> str:
    x = LEFT + 170 * number
    return (
        f'<rect x="{x}" y="30" width="10" height="10" fill="{colour}"/>'
        f'<text x="{x + 16}" y="39">{escape(label)}</text>'
    )
