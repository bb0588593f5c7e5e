"""Charts hold what they are given, in a colour and line of its own."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from deixis.pages.figures.chart import SERIES
from deixis.pages.figures.plots import Curve, Plane, bar_chart, line_chart, scatter_chart

SVG = "{http://www.w3.org/2000/svg}"


def curve(mean, **more):
    mean = np.array(mean, dtype=float)
    return Curve("a", np.arange(len(mean), dtype=float), mean, np.zeros(len(mean)), **more)


def axes_of(chart):
    return chart.figure.axes[0]


def test_curves_run_through_their_means_in_their_own_colour_and_line():
    chart = line_chart("t", "x", [(0.0, "0")], [curve([1, 5]), curve([2, 3], colour=1, line=1)])
    first, second = axes_of(chart).get_lines()
    assert list(first.get_ydata()) == [1, 5]
    assert (first.get_color(), second.get_color()) == (SERIES[0][0], SERIES[1][0])
    assert first.get_linestyle() == "-"
    assert second.get_linestyle() == "--"


def test_the_spread_is_a_band_around_the_mean():
    bare = line_chart("t", "x", [(0.0, "0")], [curve([1.0, 1.0])])
    assert not axes_of(bare).collections
    spread = replace(curve([1.0, 1.0]), spread=np.array([0.5, 0.25]))
    (band,) = axes_of(line_chart("t", "x", [(0.0, "0")], [spread])).collections
    edges = {tuple(point) for point in band.get_paths()[0].vertices.tolist()}
    assert edges == {(0, 0.5), (0, 1.5), (1, 0.75), (1, 1.25)}


def test_names_too_long_to_stand_side_by_side_stand_below_one_another():
    long = "a name that takes far more than half of the width of a figure"
    columns = [
        line_chart("t", "x", [(0.0, "0")], [replace(curve([1, 2]), name=name)] * 4)
        .figure.legends[0]
        ._ncols
        for name in ("a", long)
    ]
    assert columns == [2, 1]


def test_bars_are_as_high_as_their_counts_and_the_text_says_them():
    counts = {"VSRN": {"1": 30, ">200": 15}, "AOQ <&>": {"1": 60, ">200": 0}}
    chart = bar_chart("ranks", counts)
    assert [bar.get_height() for bar in axes_of(chart).patches] == [30, 15, 60, 0]
    assert "VSRN: 1 30, >200 15; AOQ <&>: 1 60, >200 0" in chart.alt
    texts = ElementTree.fromstring(chart.content("svg")).iter(f"{SVG}text")
    assert "AOQ <&>" in {text.text for text in texts}


def test_points_have_the_colour_of_their_group_and_the_shape_of_their_kind():
    points = np.array([[0.0, 0.0], [1.0, 1.0]], dtype=np.float32)
    plane = Plane("two", points, np.array([0, 1]), np.array([True, False]))
    chart = scatter_chart([plane, plane], ["slot 1", "slot 2"], ("of an image", "of a text"))
    squares, rings = axes_of(chart).collections
    assert squares.get_offsets().tolist() == [[0, 0]]
    assert rings.get_offsets().tolist() == [[1, 1]]
    assert len(squares.get_facecolors()) == 1
    assert len(rings.get_facecolors()) == 0
    names = [text.get_text() for text in chart.figure.legends[0].get_texts()]
    assert names == ["slot 1", "slot 2", "of an image", "of a text"]


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_chart_is_the_same_file_every_time(form, start):
    first, second = (line_chart("λ", "x", [(0.0, "0")], [curve([1, 2])]) for _ in range(2))
    assert first.content(form).startswith(start)
    assert first.content(form) == second.content(form)
    assert first.content("svg") == second.content("svg")


def test_an_svg_follows_light_and_dark():
    svg = line_chart("t", "x", [(0.0, "0")], [curve([1, 2])]).content("svg").decode()
    rules = svg[svg.index("<style>") : svg.index("</style>")]
    assert "prefers-color-scheme:dark" in rules
    drawn = svg.replace(rules, "")
    assert "var(--c" in drawn
    assert not any(light in drawn for light, _ in SERIES)
