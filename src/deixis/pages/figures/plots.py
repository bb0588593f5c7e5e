"""Line charts with the spread over seeds, bar charts, and points on a plane."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy import ndarray

from deixis.pages.figures.chart import SOFT, STYLE, Chart, colour, styled

LINES = ("-", (0, (5, 2.5)), (0, (1, 1.8)), (0, (6, 2, 1, 2)))
LEGEND_WIDTH = 44  # characters of a name above which the legend has one column


@dataclass(frozen=True)
class Curve:
    """Means over seeds along an axis, and their standard deviation."""

    name: str
    x: Float[ndarray, " point"]
    mean: Float[ndarray, " point"]
    spread: Float[ndarray, " point"]
    colour: int = 0
    line: int = 0


@dataclass(frozen=True)
class Plane:
    """Points of two kinds on a plane, coloured by group."""

    title: str
    points: Float[ndarray, "point 2"]
    group: Int[ndarray, " point"]
    filled: Bool[ndarray, " point"]  # squares; the others are rings


@rc_context(STYLE)
def line_chart(
    title: str, axis: str, ticks: Sequence[tuple[float, str]], curves: Sequence[Curve]
) -> Chart:
    """Draw curves over an axis; a band around each reaches one standard deviation either way."""
    columns = 1 if max(len(curve.name) for curve in curves) > LEGEND_WIDTH else 2
    figure = styled(6.4, 3.9 + 0.22 * -(-len(curves) // columns))
    axes = figure.subplots()
    for curve in curves:
        _draw(axes, curve)
    axes.set_title(title)
    axes.set_xlabel(axis, loc="right")
    axes.set_xticks([place for place, _ in ticks], [name for _, name in ticks])
    figure.legend(loc="outside lower left", ncols=columns)
    ends = (f"{c.name} from {c.mean[0]:.1f} to {c.mean[-1]:.1f}" for c in curves)
    return Chart(figure, f"{title}, over {axis}: {'; '.join(ends)}")


def _draw(axes: Axes, curve: Curve) -> None:
    ink = colour(curve.colour)
    if curve.spread.any():
        low, high = curve.mean - curve.spread, curve.mean + curve.spread
        axes.fill_between(curve.x, low, high, color=ink, alpha=0.14, linewidth=0)
    axes.plot(
        curve.x,
        curve.mean,
        color=ink,
        linestyle=LINES[curve.line % len(LINES)],
        linewidth=2,
        marker="o",
        markersize=4.5,
        label=curve.name,
    )


@rc_context(STYLE)
def bar_chart(title: str, counts: Mapping[str, Mapping[str, int]]) -> Chart:
    """Draw counts by run and bin, runs side by side; every run has the same bins."""
    bins = list(next(iter(counts.values())))
    width = 0.8 / len(counts)
    figure = styled(max(4.8, 0.4 * len(bins) * len(counts) + 1.5), 3.9)
    axes = figure.subplots()
    for number, (label, run) in enumerate(counts.items()):
        places = np.arange(len(bins)) + (number - (len(counts) - 1) / 2) * width
        heights = [run[name] for name in bins]
        bars = axes.bar(places, heights, 0.92 * width, label=label, color=colour(number))
        axes.bar_label(bars, padding=2, fontsize=7.5, color=SOFT[0])
    axes.set_title(title)
    axes.set_xticks(range(len(bins)), bins)
    figure.legend(loc="outside lower left", ncols=min(3, len(counts)))
    said = (f"{run}: {', '.join(f'{k} {n}' for k, n in of.items())}" for run, of in counts.items())
    return Chart(figure, f"{title}. {'; '.join(said)}")


@rc_context(STYLE)
def scatter_chart(planes: Sequence[Plane], groups: Sequence[str], kinds: tuple[str, str]) -> Chart:
    """Draw planes side by side with one key: a colour per group, a shape per kind."""
    figure = styled(min(3.6 * len(planes), 10.8), 3.6 * -(-len(planes) // 3) + 0.5)
    grid = figure.subplots(-(-len(planes) // 3), min(3, len(planes)), squeeze=False)
    for axes in grid.flat:
        axes.axis("off")
    for axes, plane in zip(grid.flat, planes, strict=False):
        _scatter(axes, plane)
    marks = [_mark(name, colour(number), "s") for number, name in enumerate(groups)]
    marks += [_mark(name, SOFT[0], shape) for name, shape in zip(kinds, "so", strict=True)]
    across = min(len(marks), 3 * min(3, len(planes)))
    figure.legend(handles=marks, loc="outside lower left", ncols=across, handlelength=1)
    names = ", ".join(plane.title for plane in planes)
    return Chart(figure, f"Elements on a plane, coloured by {groups[0].split()[0]}: {names}")


def _scatter(axes: Axes, plane: Plane) -> None:
    axes.axis("on")
    axes.set(title=plane.title, xticks=[], yticks=[])
    axes.grid(visible=False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(True)
    inks = np.array([colour(int(group)) for group in plane.group])
    filled, (x, y) = plane.filled, plane.points.T
    axes.scatter(x[filled], y[filled], 14, inks[filled], marker="s", alpha=0.7, linewidths=0)
    x, y, rings = x[~filled], y[~filled], inks[~filled]
    axes.scatter(x, y, 16, facecolors="none", edgecolors=rings, linewidths=1.1, alpha=0.9)


def _mark(name: str, ink: str, shape: str) -> Line2D:
    """An entry of the key; rings are hollow."""
    face = ink if shape == "s" else "none"
    return Line2D([], [], linestyle="", marker=shape, color=ink, markerfacecolor=face, label=name)
