"""A person types, scribbles where each thing was, and the ranking follows: in a real browser."""

import pytest
from browser import FLAGS, PATIENCE, answered, chromium, draw, serving, type_words

from deixis.search.encoders.load_encoder import load_encoder
from deixis.search.library.library import Library
from deixis.serve.app import create_app
from place_runs import around, drawn, place_run, save_all

LEFT, RIGHT, TOP = around(0.2, 0.5), around(0.8, 0.5), around(0.5, 0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of pictures, indexed by the packaged model with a small place head."""
    parent = tmp_path_factory.mktemp("pointing")
    pictures = [
        ("dog-left-man-right.png", drawn(LEFT, RIGHT, 50)),
        ("dog-right-man-left.png", drawn(RIGHT, LEFT, 51)),
        ("dog-top.png", drawn(TOP, None, 52, size=(180, 320))),
        ("nothing.png", drawn(None, None, 55)),
    ]
    save_all(parent / "pictures", pictures)
    Library(parent / "library", place_run(parent / "run")).add(parent / "pictures")
    return parent


@pytest.fixture
def page(folder, monkeypatch):
    from playwright.sync_api import sync_playwright

    # Explaining yields to everything else; on a machine full of tests it would never be its turn.
    monkeypatch.setattr("deixis.serve.limits.lane._lowered", lambda niceness: None)
    app = create_app(folder / "library", load=lambda source: load_encoder(folder / "run"))
    with sync_playwright() as started, serving(app) as url:
        browser = started.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        page.get_by_text("4 pictures").first.wait_for()
        yield page
        browser.close()
        assert errors == []


def wait_for_first(page, name):
    page.wait_for_function(
        "name => document.querySelector('.card')?.ariaLabel?.includes(name)", arg=name
    )


def test_typing_and_scribbling_ranks_by_what_was_where(page):
    page.locator("#text").press_sequentially("a dog")
    draw(page, 0.2, 0.5)
    page.locator("#text").press_sequentially(" and a man")
    draw(page, 0.8, 0.5)
    wait_for_first(page, "dog-left-man-right")
    page.wait_for_function(  # two strokes over the picture, each with its halo
        "() => document.querySelector('.card')?.querySelectorAll('.trace polyline').length === 4"
    )
    page.locator("[data-do=clear]").click()
    page.locator(".phrases button", has_text="man").click()
    draw(page, 0.2, 0.5)
    page.locator(".phrases button", has_text="dog").click()
    draw(page, 0.8, 0.5)
    wait_for_first(page, "dog-right-man-left")


LEFT_SHARE = (
    "one => { const { width, height } = one;"
    "  const seen = one.getContext('2d').getImageData(0, 0, width, height).data;"
    "  let [sum, left] = [0, 0];"
    "  for (let i = 3; i < seen.length; i += 4) {"
    "    sum += seen[i]; left += ((i >> 2) % width < width / 2) ? seen[i] : 0; }"
    "  return sum ? left / sum : 0; }"
)


def test_a_hit_shows_the_map_of_each_phrase_on_demand(page):
    page.locator("#text").press_sequentially("a dog and a man")
    wait_for_first(page, "dog-")
    page.locator(".card", has=page.locator("[src]")).first.click()
    page.locator(".why button", has_text="dog").first.hover()
    page.wait_for_selector(".heat.on")
    heat = page.locator(".heat").evaluate(LEFT_SHARE)
    name = page.locator("#detail").get_attribute("aria-label")
    assert heat > 0.8 if "dog-left" in name else heat < 0.2 if "dog-right" in name else True
    assert "dog-left" in name or "dog-right" in name
    page.get_by_text("the map does not say whether it is there").wait_for()


def test_a_mixture_shows_where_its_words_would_be(page):
    type_words(page, "a dog")
    answered(page)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.locator(".card").first.click()
    page.get_by_role("button", name="More like this").click()
    page.get_by_text("Looked for “dog”, more like").wait_for()
    answered(page)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.locator(".card", has_text="dog-left").click()
    page.get_by_text("Point at the words to see where they would be").wait_for()
    page.locator(".why.parts button").first.hover()
    page.wait_for_selector(".heat.on")
    assert page.locator(".heat").evaluate(LEFT_SHARE) > 0.6
    page.locator(".why.parts button").nth(1).hover()  # a picture has no map
    assert page.locator(".heat").evaluate(LEFT_SHARE) == 0


def test_the_canvas_has_the_shape_chosen_and_places_stay_relative(page):
    """The middle of the top edge is the middle of the top edge of a tall picture, too."""
    page.locator("#aspect").select_option("16/9")
    page.locator("#text").press_sequentially("a dog")
    draw(page, 0.5, 0.2)
    wait_for_first(page, "dog-top")


def linked(page, links):
    """Wait for a search that is sent these links."""
    return page.expect_response(
        lambda answer: (
            "/v1/search" in answer.url and answer.request.post_data_json.get("links") == links
        )
    )


def test_a_stroke_may_point_at_something_without_a_phrase(page):
    page.locator("#text").press_sequentially("a dog")
    page.locator(".phrases button", has_text="something").click()
    with linked(page, [{"stroke": 0}]) as waiting:
        draw(page, 0.8, 0.5)
    assert waiting.value.status == 200
    page.get_by_text("Looked for “dog” and something at the right").wait_for()
    with linked(page, [{"stroke": 0}]):  # the address keeps it
        page.reload()
    page.wait_for_selector(".paper g.pn", state="attached")


def test_a_stroke_is_taken_from_its_phrase_and_given_back(page):
    page.locator("#text").press_sequentially("a dog")
    page.locator(".phrases button", has_text="dog").wait_for()
    named = [{"start_char": 2, "end_char": 5, "stroke": 0}]
    with linked(page, named):
        draw(page, 0.5, 0.5)
    for chip, links in (("something", [{"stroke": 0}]), ("dog", named)):
        page.locator(".paper .reach").press("Enter")
        with linked(page, links):
            page.locator(".phrases button", has_text=chip).click()
