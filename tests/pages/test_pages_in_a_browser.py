"""Every page in a real browser: accessible, light and dark, no wider than a phone, printable."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from deixis.data.corpus import Corpus
from deixis.explanation.attention_view import AttentionView
from deixis.explanation.set_health import SetHealth
from deixis.pages.attention_page import attention_page
from deixis.pages.figures.chart import SERIES
from deixis.pages.figures.plots import Plane, scatter_chart
from deixis.pages.label_errors import HitErrors, LabelledSide
from deixis.pages.label_failures import failure_section
from deixis.pages.render import render
from deixis.pages.run_comparison import RankedRun, compared
from deixis.pages.set_report import Gallery, PictureSlots, SlotRow
from deixis.pages.table_page import table_page
from deixis.recipes.results.printed_table import Line, Report
from serve.browser import FLAGS, chromium

PICTURE = Image.new("RGB", (60, 40), (0, 90, 200))


def corpus_in(folder: Path) -> Corpus:
    """Two images, the second without a picture file, and two texts."""
    PICTURE.save(folder / "a.png")
    own = np.array([[0, 0], [1, 1]])
    labels = np.array([[True, False], [False, True]])
    texts = ("a red ball", "a dog")
    names = ("ball", "dog")
    corpus = Corpus("two", folder, ("a.png", "b.png"), texts, own[:, 0], own, ("test", "test"))
    object.__setattr__(corpus, "labels", labels)
    object.__setattr__(corpus, "label_names", names)
    return corpus


def attention(folder: Path) -> str:
    boxes = np.array([[0, 1, 0, 1, 1], [0, 0.5, 0, 0.5, 0.25]], dtype=np.float32)
    shares = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    gates = np.array([0.4, 0.6])
    view = AttentionView(
        folder / "a.png", "a red ball", True, 0.5, ("a", "red", "ball"), boxes,
        shares.T / shares.T.sum(axis=1, keepdims=True), shares, gates, np.array([0.1, 0.2, 0.3]),
    )  # fmt: skip
    return attention_page("attention", [view, view], {"gate": 60.0, "gate_swapped": 40.0})


def comparison(corpus: Corpus) -> str:
    ranks = {"i2t": np.array([1, 2]), "t2i": np.array([1, 2])}
    turned = {way: found[::-1].copy() for way, found in ranks.items()}
    runs = [RankedRun("one", np.eye(2), ranks), RankedRun("two", 1 - np.eye(2), turned)]
    return render("comparison", title="one and two", sections=compared(corpus, *runs))


def failures(corpus: Corpus) -> str:
    both = np.ones((2, 2), dtype=bool)
    sides = {kind: LabelledSide(corpus.labels, both) for kind in ("image", "text")}
    errors = HitErrors(~np.eye(2, dtype=bool))
    ways = (("image", "text"), ("text", "image"))
    sections = [failure_section(corpus, 1 - np.eye(2), sides, way, errors) for way in ways]
    return render("failures", title="Failures of one", sections=sections)


def sets() -> str:
    class Embedded:
        name = "one"
        health = SetHealth(0.1, 0.2, (0.5, 0.5), (1.0, 0.0))

    points = np.array([[0.0, 0.0], [1.0, 1.0]], dtype=np.float32)
    plane = Plane("one", points, np.array([0, 1]), np.array([True, False]))
    chart = scatter_chart([plane], ["slot 1", "slot 2"], ("of an image", "of a text"))
    slots = [SlotRow(f"slot {n}", [PICTURE] * 4, "a red ball", n == 1) for n in (1, 2)]
    galleries = [
        Gallery("one", [PictureSlots("a.png", PICTURE, slots)]),
        Gallery("two", [], "no picture files"),
    ]
    values = {"sets": [Embedded()], "plane": chart, "galleries": galleries, "colours": SERIES}
    return render("sets", title="Sets of one", **values)


def table() -> str:
    line = Line("ours", ({"rsum": 300.0}, {"rsum": 310.0}), {"rsum": 299.5})
    return table_page(Report("A table", "paper-2020", "a note", (line,)))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    corpus = corpus_in(folder)
    made = {
        "attention": attention(folder),
        "comparison": comparison(corpus),
        "failures": failures(corpus),
        "sets": sets(),
        "table": table(),
    }
    for name, content in made.items():
        (folder / f"{name}.html").write_text(content, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in made}


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        running = started.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield running
        running.close()


NAMES = ["attention", "comparison", "failures", "sets", "table"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, pages, name, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(color_scheme=scheme)
    page.goto(pages[name])
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = Axe().run(page).response["violations"]
    page.close()
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_page_fits_a_phone_and_prints_dark_on_white(browser, pages, name):
    asked = []
    page = browser.new_page(viewport={"width": 360, "height": 700}, color_scheme="dark")
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages[name])
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.emulate_media(media="print", color_scheme="dark")
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    page.close()
    assert (ink, paper) == ("rgb(28, 27, 25)", "rgb(255, 255, 255)")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
