"""The shapes of pictures and of the canvas, on wide screens and on phones."""

import numpy as np
import pytest
from browser import PATIENCE, answered, draw, serving, type_words
from made_library import made_library
from PIL import Image

from deixis.search.library.library_store import LibraryStore
from deixis.serve.app import create_app
from fake_encoder import FakeEncoder

SHAPES = """one => {
    const shown = one.getBoundingClientRect();
    const trace = one.querySelector(".trace").getBoundingClientRect();
    return {
        shown: shown.width / shown.height, trace: trace.width / trace.height,
        middle: (trace.left + trace.right - shown.left - shown.right) / shown.width,
        centre: (trace.top + trace.bottom - shown.top - shown.bottom) / shown.height,
    };
}"""


def test_strokes_lie_over_the_same_part_of_a_very_wide_or_tall_picture(browser, tmp_path):
    library = made_library(tmp_path, 4)
    for seed, size in ((1, (800, 160)), (2, (120, 600))):
        pixels = np.random.default_rng(seed).integers(0, 255, (6, 8, 3), dtype=np.uint8)
        name = "wide.png" if size[0] > size[1] else "tall.png"
        Image.fromarray(pixels).resize(size).save(tmp_path / "pictures" / name)
    with LibraryStore(library) as opened:
        opened.add([tmp_path / "pictures"], FakeEncoder())
    with serving(create_app(library, load=lambda source: FakeEncoder())) as url:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(url)
        page.get_by_text("6 pictures").wait_for()
        type_words(page, "a dog")
        draw(page, 0.1, 0.5, 0.08)
        page.wait_for_selector(".card .trace", state="attached")
        answered(page)
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        for name, ratio in (("wide.png", 5), ("tall.png", 0.2)):
            card = page.locator(".card", has_text=name)
            card.scroll_into_view_if_needed()
            small = card.locator(".picture").evaluate(SHAPES)
            assert small["shown"] == pytest.approx(3 if ratio == 5 else 0.45, rel=0.02)
            card.click()
            page.wait_for_function("() => document.querySelector('.stage img').naturalWidth > 0")
            large = page.locator(".stage .picture").evaluate(SHAPES)
            assert large["shown"] == pytest.approx(ratio, rel=0.02)
            for one in (small, large):  # the whole picture, whatever is cut from it
                assert one["trace"] == pytest.approx(ratio, rel=0.02)
                assert (one["middle"], one["centre"]) == pytest.approx((0, 0), abs=0.02)
            page.keyboard.press("Escape")
        page.close()


def test_on_a_phone_pictures_begin_on_the_first_screen(page):
    page.set_viewport_size({"width": 360, "height": 780})
    page.locator(".tries button").first.wait_for()
    assert page.locator("#results .card").first.bounding_box()["y"] < 700
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("width", [360, 1280])
def test_the_canvas_has_the_chosen_shape_at_every_width(page, width):
    page.set_viewport_size({"width": width, "height": 780})
    for across, down in ((4, 3), (3, 2), (16, 9), (1, 1), (3, 4), (2, 3), (9, 16)):
        page.locator("#aspect").select_option(f"{across}/{down}")
        board = page.locator(".board").bounding_box()
        assert board["width"] / board["height"] == pytest.approx(across / down, rel=0.02)
        assert board["height"] <= 16 * (12 if width == 360 else 22) + 1
        assert board["x"] >= 0 and board["x"] + board["width"] <= width


def test_nothing_overflows_on_a_phone(page):
    page.set_viewport_size({"width": 360, "height": 780})
    type_words(page)
    page.wait_for_selector(".card", state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
