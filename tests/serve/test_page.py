"""The page in a real browser: what people do, what is sent, what they then see."""

import base64
from contextlib import suppress

import pytest
from browser import PATIENCE, draw, picture_file, sent_by, serving, still, type_words
from playwright.sync_api import Error

from deixis.serve.app import create_app
from fake_encoder import FakeEncoder


def shown_ids(page):
    sources = page.locator(".card img").evaluate_all("all => all.map(one => one.src)")
    return [source.split("/v1/images/")[1].split("?")[0] for source in sources]


def test_typing_shows_what_the_server_found_in_its_order(page):
    asked, found = sent_by(page, lambda: type_words(page))
    assert asked["text"] == "a red car and a dog on the beach"
    page.wait_for_selector(".card", state="attached")
    page.get_by_text("of 40 pictures").wait_for()
    assert shown_ids(page) == [hit["id"] for hit in found["hits"]]


def test_strokes_take_the_colour_of_the_phrase_at_the_caret_and_are_sent_as_links(page):
    type_words(page, "a red car")
    draw(page, 0.3, 0.3)
    type_words(page, " and a dog")
    asked, found = sent_by(page, lambda: draw(page, 0.7, 0.7))
    texts = [asked["text"][link["start_char"] : link["end_char"]] for link in asked["links"]]
    assert texts == ["red car", "dog"]
    assert [link["stroke"] for link in asked["links"]] == [0, 1]
    xs = [point["x"] for point in asked["traces"][0]]
    assert min(xs) == pytest.approx(0.18, abs=0.02)
    assert max(xs) == pytest.approx(0.42, abs=0.02)
    said = [word["utterance"] for word in asked["timed_text"]]
    assert said == ["a", "red", "car", "and", "a", "dog"]
    colours = page.locator(".paper g").evaluate_all("all => all.map(one => one.classList.value)")
    assert colours == ["p0", "p1"]
    page.wait_for_selector(".card .trace polyline.p1", state="attached")
    assert found["text_order"]


def test_a_stroke_belongs_to_the_words_at_the_caret_before_the_server_knows_their_phrases(page):
    held = []

    def hold(route):
        held.append(route)

    page.route("**/v1/phrases?*", hold)
    type_words(page, "a red car")
    draw(page, 0.3, 0.3)
    type_words(page, " and a dog")
    draw(page, 0.7, 0.7)
    page.unroute("**/v1/phrases?*")
    with page.expect_request(
        lambda request: "/v1/search" in request.url and request.post_data_json.get("links")
    ) as waiting:
        for route in held:
            with suppress(Error):  # the page gave the first question up
                route.continue_()
    asked = waiting.value.post_data_json
    texts = [asked["text"][link["start_char"] : link["end_char"]] for link in asked["links"]]
    assert texts == ["red car", "dog"]


def test_a_stroke_drawn_before_its_words_belongs_to_the_words_that_follow(page):
    draw(page, 0.5, 0.5)
    asked, _ = sent_by(page, lambda: type_words(page, "a dog"))
    assert asked["links"] == [{"start_char": 2, "end_char": 5, "stroke": 0}]


def test_a_place_without_words_is_answered_with_a_sentence(page):
    draw(page, 0.5, 0.5)
    page.get_by_text("Also say what it is").wait_for()
    type_words(page, "a dog")
    page.get_by_text("Looked for “dog” at the middle").wait_for()
    page.locator("#text").fill("")
    page.get_by_text("Also say what it is").wait_for()
    page.get_by_label("Clear the canvas").click()
    page.get_by_text("Also say what it is").wait_for(state="hidden")


def test_a_click_gives_a_stroke_to_another_phrase(page):
    type_words(page)
    draw(page, 0.3, 0.3)
    page.locator(".paper g.p2").wait_for(state="attached")
    box = page.locator(".paper").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.42, box["y"] + box["height"] * 0.3)
    page.locator(".paper g.chosen").wait_for(state="attached")
    asked, _ = sent_by(page, lambda: page.get_by_role("button", name="dog", exact=True).click())
    link = asked["links"][0]
    assert asked["text"][link["start_char"] : link["end_char"]] == "dog"
    assert page.locator(".paper g.p1").count() == 1


def test_undo_and_clear_take_strokes_back(page):
    type_words(page)
    for x in (0.2, 0.5, 0.8):
        draw(page, x, 0.5, 0.08)
    asked, _ = sent_by(page, lambda: page.get_by_label("Undo the last stroke").click())
    assert len(asked["traces"]) == 2
    asked, _ = sent_by(page, lambda: page.get_by_label("Clear the canvas").click())
    assert "traces" not in asked


def test_the_weight_is_sent(page):
    type_words(page)
    draw(page, 0.3, 0.3)
    asked, _ = sent_by(page, lambda: page.locator("#weight").fill("0.8"))
    assert asked["trace_weight"] == 0.8


def test_everything_works_by_keyboard_alone(page):
    page.keyboard.type("a dog")  # the field has the focus
    page.keyboard.press("Enter")
    page.wait_for_selector(".card", state="attached")
    page.get_by_label("Choose places by keyboard").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    asked, _ = sent_by(page, lambda: page.keyboard.press("Enter"))
    assert all(1 / 3 < point["x"] < 2 / 3 for point in asked["traces"][0])
    assert all(1 / 3 < point["y"] < 2 / 3 for point in asked["traces"][0])
    assert asked["links"][0]["end_char"] == 5
    page.wait_for_selector(".card .trace", state="attached")
    if page.locator("details:not([open]) summary").count():
        page.locator("summary").focus()
        page.keyboard.press("Enter")
    page.locator(".card:visible").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("dialog[open]").count() == 1
    names = [page.locator("dialog h2").text_content()]
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        names.append(page.locator("dialog h2").text_content())
    assert len(set(names[:3])) == 3 and names[3] == names[1]
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0


def test_a_picture_shows_why_it_was_found(page):
    sent_by(page, lambda: type_words(page, "a red car and a dog"))
    page.get_by_role("button", name="dog").click()
    _, found = sent_by(page, lambda: draw(page, 0.3, 0.3))
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    with page.expect_response(lambda answer: "/v1/explain" in answer.url) as waiting:
        page.locator(".card").first.click()
    asked, answer = waiting.value.request.post_data_json, waiting.value.json()
    assert asked["id"] == found["hits"][0]["id"]
    assert (len(asked["traces"]), asked["trace_weight"]) == (1, 0.5)
    page.wait_for_selector(".why button")
    words = page.locator(".why button").all_text_contents()
    assert words == ["a", "red", "car", "and", "a", "dog"]
    assert "pointing at “dog”" in page.locator(".pointed li.p1").text_content()
    scores = page.locator(".scores div").all_text_contents()
    assert scores[0].startswith(f"{answer['score']:.3f}")
    assert scores[1].startswith(f"{answer['text_score']:.3f}")
    orders = page.locator(".orders > span").all_text_contents()
    assert orders == ["words and place: No. 1", f"words alone: No. {answer['text_rank']}"]
    assert page.locator(".heat.on").count() == 0
    page.locator(".why button").nth(2).hover()
    assert page.locator(".heat.on").count() == 1
    page.mouse.move(5, 5)
    assert page.locator(".heat.on").count() == 0


def test_a_wrong_filter_is_marked_and_explained(page):
    type_words(page, "a dog")
    asked, found = sent_by(page, lambda: page.locator("#where").fill("label:dog"))
    assert (asked["where"], found["searched"]) == ("label:dog", 10)
    with page.expect_response(lambda answer: answer.status == 400):
        page.locator("#where").fill("colour:red")
    page.wait_for_selector("#where[aria-invalid=true]")
    assert "there is no condition 'colour'" in page.locator("#status").text_content()


def test_a_dropped_picture_finds_itself_and_a_part_can_be_chosen(page, library):
    file = picture_file(library.parent / "pictures")
    content = base64.b64encode(file.read_bytes()).decode()
    data = page.evaluate_handle(
        """content => {
            const bytes = Uint8Array.from(atob(content), c => c.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], "mine.png", { type: "image/png" }));
            return data;
        }""",
        content,
    )
    _, found = sent_by(page, lambda: page.dispatch_event("body", "drop", {"dataTransfer": data}))
    assert found["hits"][0]["paths"] == [str(file)]
    assert "mine.png" in page.locator(".example").text_content()
    with page.expect_request(lambda request: "crop=" in request.url):
        draw(page, 0.5, 0.5, 0.2)
    page.get_by_label("Remove mine.png").click()
    assert page.locator(".examples").is_hidden()
    page.locator("h2", has_text="40").wait_for()  # the library again


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme=scheme)
    type_words(page)
    draw(page, 0.3, 0.3)
    page.get_by_label("Choose places by keyboard").click()
    page.wait_for_selector(".card .trace", state="attached")
    for opened in (False, True):
        if opened:
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            page.locator(".card").first.click()
            page.wait_for_selector(".why button")
        still(page)
        found = Axe().run(page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []


def test_a_model_that_reads_words_alone_offers_no_canvas_but_for_parts_of_pictures(
    browser, library
):
    class WordsOnly(FakeEncoder):
        reads_traces = False

    with serving(create_app(library, load=lambda source: WordsOnly())) as url:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(url)
        page.get_by_text("40 pictures").wait_for()
        assert not page.locator(".board").is_visible()
        type_words(page, "a dog")
        page.wait_for_selector(".card", state="attached")
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        page.locator(".card").first.click()
        page.get_by_role("button", name="More like this").click()
        assert not page.locator(".board").is_visible()
        page.get_by_label("Choose a part").click()
        page.locator(".board").wait_for()
        assert not page.locator(".tools").is_visible()
        page.get_by_label("Choose a part").click()
        assert not page.locator(".board").is_visible()
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_before_anything_is_asked(page, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme=scheme)
    page.locator(".tries button").first.wait_for()
    for act in (lambda: None, lambda: page.locator("#about").click()):
        act()
        still(page)
        found = Axe().run(page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []
