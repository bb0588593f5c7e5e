"""The page before and around a search: the library, the address, what was understood, export."""

import json
import time

import pytest
from browser import PATIENCE, answered, draw, sent_by, serving, type_words
from made_library import made_library

from deixis.serve.app import create_app
from fake_encoder import FakeEncoder


def count_of(page):
    return page.locator("#results .card").count()


def test_the_library_comes_first_with_headings_counts_and_examples(page):
    page.locator("#results h2", has_text="40").wait_for()
    assert count_of(page) == 40
    page.get_by_role("button", name="Folders").click()
    page.locator("#results h2", has_text="/pictures 40").wait_for()
    page.locator("#where").fill("label:dog")
    page.get_by_text("10 pictures pass the filter").wait_for()
    assert count_of(page) == 10
    page.locator("#where").fill("")
    _, found = sent_by(page, lambda: page.get_by_role("button", name="dog", exact=True).click())
    assert len(found["hits"]) == 40
    assert page.locator("#text").input_value() == "dog"


def test_scrolling_brings_the_rest_of_a_large_library(browser, tmp_path):
    library = made_library(tmp_path, 130)
    with serving(create_app(library, load=lambda source: FakeEncoder())) as url:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(url)
        page.wait_for_selector("#results .card")
        until = time.monotonic() + PATIENCE / 1000
        while count_of(page) < 130 and time.monotonic() < until:
            page.mouse.wheel(0, 4000)
            page.wait_for_timeout(100)
        names = page.locator("#results .card").evaluate_all("all => all.map(one => one.ariaLabel)")
        assert sorted(names) == sorted(f"{number:02}.png" for number in range(130))
        assert page.get_by_role("button", name="Show more").is_hidden()
        page.close()


def test_rows_are_justified_and_pictures_keep_their_shape(page):
    boxes = page.locator("#results .card .picture").evaluate_all(
        """all => all.map(one => {
            const box = one.getBoundingClientRect();
            return [box.top, box.left, box.right, box.width / box.height];
        })"""
    )
    assert all(ratio == pytest.approx(160 / 120, rel=0.02) for *_, ratio in boxes)
    rows = {}
    for top, left, right, _ in boxes:
        rows.setdefault(round(top), []).append((left, right))
    *full, _last = [(min(row)[0], max(row)[1]) for _, row in sorted(rows.items())]
    assert len(full) > 2
    assert len({round(left) for left, _ in full}) == len({round(right) for _, right in full}) == 1


def test_the_address_brings_the_query_back(page):
    type_words(page, "a red car and a dog")
    draw(page, 0.2, 0.8)
    page.wait_for_url("**draw=**")
    page.locator("#where").fill("label:dog")
    page.wait_for_url("**where=**")
    page.get_by_text("Looked for").wait_for()
    with page.expect_response(lambda answer: "/v1/search" in answer.url) as waiting:
        page.reload()
    again = waiting.value.request.post_data_json
    assert (again["text"], again["where"]) == ("a red car and a dog", "label:dog")
    assert again["text"][again["links"][0]["start_char"] :] == "dog"
    xs = [point["x"] for point in again["traces"][0]]
    assert (min(xs), max(xs)) == pytest.approx((0.08, 0.32), abs=0.02)


def test_the_address_brings_a_stroke_back_to_its_own_phrase(page):
    type_words(page, "a red car and a dog")
    page.get_by_role("button", name="red car", exact=True).click()
    draw(page, 0.2, 0.8)
    page.wait_for_url("**draw=**")
    with page.expect_request(lambda request: "/v1/search" in request.url) as waiting:
        page.reload()
    again = waiting.value.post_data_json
    assert [(link["start_char"], link["end_char"]) for link in again["links"]] == [(2, 9)]
    assert page.get_by_label("Undo the last stroke").is_enabled()
    page.get_by_label("Clear the canvas").click()
    assert page.locator(".paper g").count() == 0


def test_the_address_keeps_the_shape_of_the_canvas_that_was_drawn_on(page):
    page.locator("#aspect").select_option("9/16")
    type_words(page, "a dog")
    draw(page, 0.5, 0.5)
    page.wait_for_url("**shape=9x16**")
    page.locator("#aspect").select_option("3/4")
    page.wait_for_url("**shape=3x4**")
    page.reload()
    page.locator(".paper g").wait_for(state="attached")
    assert page.locator("#aspect").input_value() == "3/4"
    board = page.locator(".board").bounding_box()
    assert board["width"] / board["height"] == pytest.approx(3 / 4, rel=0.02)


def test_back_leads_to_the_library_and_forward_to_the_query(page):
    type_words(page, "a dog")
    page.get_by_text("Looked for “dog”").wait_for()
    page.go_back()
    page.locator("#results h2", has_text="40").wait_for()
    assert page.locator("#text").input_value() == ""
    page.go_forward()
    page.get_by_text("Looked for “dog”").wait_for()
    assert page.locator("#text").input_value() == "a dog"


def test_the_answer_to_the_last_question_stays(page):
    held = []

    def hold(route):
        held.append(route)

    page.route("**/v1/search", hold)
    for asked, words in enumerate(("a dog", " and a cat"), 1):
        type_words(page, words)
        until = time.monotonic() + PATIENCE / 1000
        while len(held) < asked and time.monotonic() < until:
            page.wait_for_timeout(100)
    assert len(held) == 2
    page.unroute("**/v1/search")
    for route in reversed(held):
        try:
            route.continue_()
        except Exception:  # the page gave the first question up
            continue
    page.get_by_text("Looked for “dog” and “cat”").wait_for()
    answered(page)
    assert "“cat”" in page.locator("#status").text_content()


def test_a_sentence_says_what_was_understood(page):
    type_words(page, "a red car")
    page.get_by_role("button", name="red car", exact=True).wait_for()  # the server has cut the text
    draw(page, 0.15, 0.15, 0.05)
    type_words(page, " and a dog -snow")
    page.get_by_text("Looked for “red car” at the top left and “dog”, less like “snow”.").wait_for()


def test_more_and_less_like_a_picture_go_with_the_words(page):
    type_words(page, "a dog")
    page.get_by_text("Looked for").wait_for()
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.locator("#results .card").first.click()
    asked, found = sent_by(page, lambda: page.get_by_role("button", name="More like this").click())
    assert [part["weight"] for part in asked["parts"]] == [1, 1]
    assert asked["parts"][0]["words"]["text"] == "a dog"
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.locator("#results .card").nth(3).click()
    asked, _ = sent_by(page, lambda: page.get_by_role("button", name="Less like this").click())
    assert [part["weight"] for part in asked["parts"]] == [1, 1, -0.5]
    assert asked["parts"][2]["id"] == found["hits"][3]["id"]
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    with page.expect_response(lambda answer: "/v1/explain/mixed" in answer.url) as waiting:
        page.locator("#results .card").first.click()
    assert len(waiting.value.json()["parts"]) == 3
    page.get_by_text("What each thing adds").wait_for()
    assert page.get_by_text("Point at one").count() == 0  # this model says nothing of places
    page.locator(".why.parts button").nth(2).hover()
    assert page.locator(".heat.on").count() == 1
    page.keyboard.press("Escape")
    asked, _ = sent_by(page, lambda: page.get_by_label("Weight of").first.fill("0.5"))
    assert asked["parts"][1]["weight"] == 0.5
    assert page.url.count("like=") == 2


@pytest.mark.parametrize("form", ["CSV", "JSON", "paths"])
def test_results_can_be_taken_along(page, form):
    _, found = sent_by(page, lambda: type_words(page, "a dog"))
    page.get_by_text("Looked for").wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("group", name="Export").get_by_text(form, exact=True).click()
    text = waiting.value.path().read_text()
    paths = [hit["paths"][0] for hit in found["hits"]]
    if form == "paths":
        assert text.split() == paths
    elif form == "JSON":
        assert [hit["paths"][0] for hit in json.loads(text)["hits"]] == paths
        assert json.loads(text)["query"]["text"] == "a dog"
    else:
        assert [line.split(",")[1] for line in text.splitlines()] == ["path", *paths]


def test_a_folder_is_added_from_the_page_and_problems_are_named(page, tmp_path):
    more = tmp_path / "more"
    more.mkdir()
    for number in range(3):
        (more / f"new{number}.png").write_bytes(
            (tmp_path / "pictures" / f"0{number}.png").read_bytes() + b"changed"
        )
    (more / "broken.png").write_bytes(b"bad")
    page.locator("#about").click()
    page.get_by_label("Add a folder").fill(str(tmp_path / "nowhere"))
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("alert").get_by_text("is not a folder on this machine").wait_for()
    page.get_by_label("Add a folder").fill(str(more))
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_text("Done: 4 of 4 files, 3 new or changed").wait_for()
    page.get_by_text("1 file could not be added").click()
    assert "broken.png" in page.locator(".progress details").text_content()
    page.locator(".roots li", has_text="more").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("43 pictures").wait_for()
    page.locator("#results .card").nth(42).wait_for()
    assert count_of(page) == 43


def test_a_folder_that_is_done_before_the_page_looks_is_listed_too(page, tmp_path):
    more = tmp_path / "more"
    more.mkdir()
    (more / "new.png").write_bytes((tmp_path / "pictures" / "00.png").read_bytes() + b"changed")

    def late(route):
        answer = route.fetch()
        if route.request.method == "POST":
            while page.request.get(route.request.url).json()["standing"] == "running":
                continue
        route.fulfill(response=answer)

    page.route("**/v1/indexing", late)
    page.locator("#about").click()
    page.get_by_label("Add a folder").fill(str(more))
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_text("Done: 1 of 1 files, 1 new or changed").wait_for()
    page.locator(".roots li", has_text="more").wait_for()
