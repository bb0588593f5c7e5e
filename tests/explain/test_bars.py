"""Bars are as high as their counts, and names cannot break the drawing."""

from xml.etree import ElementTree

from deixis.explain.bars import HEIGHT, bars

SVG = "{http://www.w3.org/2000/svg}"


def test_bars_are_as_high_as_their_counts():
    drawn = bars("ranks", {"VSRN": {"1": 30, ">200": 15}, "AOQ <&>": {"1": 60, ">200": 0}})
    root = ElementTree.fromstring(drawn)
    heights = {}
    for bar in root.iter(f"{SVG}rect"):
        title = bar.find(f"{SVG}title")
        if title is not None:
            heights[title.text] = float(bar.get("height"))
    assert heights == {
        "VSRN, 1: 30": HEIGHT / 2,
        "VSRN, >200: 15": HEIGHT / 4,
        "AOQ <&>, 1: 60": HEIGHT,
        "AOQ <&>, >200: 0": 0,
    }
