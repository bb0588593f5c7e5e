"""Talking while pointing, in a real browser whose microphone plays a made voice."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

from browser import FLAGS, PATIENCE, chromium, draw, serving
from made_library import made_library
from speaking import spoken

from deixis.serve.app import create_app
from deixis.serve.speech import recogniser
from fake_encoder import FakeEncoder

SAID = "a brown dog on the left, and a man in a red shirt"


@pytest.fixture
def opened(tmp_path):
    """Opens the page in a browser that hears a voice, or one without a microphone."""
    from playwright.sync_api import sync_playwright

    voice = spoken(tmp_path / "said.wav", SAID, silence=1.5)
    fake = [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-audio-capture={voice}%noloop",
    ]
    app = create_app(made_library(tmp_path), load=lambda source: FakeEncoder())
    with sync_playwright() as started, serving(app) as url:
        running = started.chromium.launch(executable_path=chromium(), args=[*FLAGS, *fake])
        page = running.new_context(permissions=["microphone"]).new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(url)
        page.get_by_text("40 pictures").wait_for()
        yield page
        running.close()


def test_what_is_said_is_asked_and_strokes_go_with_the_words_of_their_time(opened):
    page = opened
    page.get_by_role("button", name="Speak while you point").click()
    page.get_by_role("button", name="Stop listening").wait_for()
    page.wait_for_timeout(2200)
    draw(page, 0.25, 0.6)  # about when the dog is named
    page.wait_for_timeout(5500)
    with page.expect_response(
        lambda answer: "/v1/search" in answer.url and answer.request.post_data_json["text"]
    ) as waiting:
        page.get_by_role("button", name="Stop listening").click()
    asked = waiting.value.request.post_data_json
    assert waiting.value.status == 200
    said = {word["utterance"].lower(): word for word in asked["timed_text"]}
    # A busy machine drops some of the sound: not every word need be understood.
    understood = [word for word in ("dog", "left", "man", "red", "shirt") if word in said]
    assert len(understood) >= 2
    starts = [said[word]["start_time"] for word in understood]
    assert starts == sorted(starts)
    assert asked["links"] == [] and len(asked["traces"]) == 1  # times say what it goes with
    first, last = asked["timed_text"][0], asked["timed_text"][-1]
    assert first["start_time"] - 2 < asked["traces"][0][0]["t"] < last["end_time"] + 2
    assert page.locator("#text").input_value() == asked["text"]


def state(page):
    return page.locator(".speak").get_attribute("data-state")


@pytest.mark.parametrize("how", ["space", "button"])
def test_it_listens_as_long_as_a_key_or_the_button_is_held(opened, how):
    page = opened
    page.route("**/v1/speech", lambda route: route.fulfill(json={"text": "", "timed_text": []}))
    if how == "space":
        page.locator("#text").focus()  # where the page begins; nothing is typed yet
        page.keyboard.down(" ")
    else:
        page.locator(".speak").hover()
        page.mouse.down()
    page.get_by_role("button", name="Stop listening").wait_for()
    page.wait_for_timeout(1500)
    assert state(page) == "listening"
    if how == "space":
        page.keyboard.up(" ")
    else:
        page.mouse.up()
    page.get_by_text("No words were heard").wait_for()
    assert state(page) == "" and page.locator("#text").input_value() == ""


def test_a_space_between_words_is_a_space(opened):
    opened.locator("#text").press_sequentially("a dog")
    assert opened.locator("#text").input_value() == "a dog"
    assert not state(opened)


def test_without_the_extra_there_is_no_button(opened, monkeypatch):
    monkeypatch.setattr("deixis.serve.app.can_recognise", lambda: False)
    opened.reload()
    opened.get_by_text("40 pictures").wait_for()
    assert opened.locator(".speak").is_hidden()
    assert recogniser.can_recognise()  # the extra is there: the server only says it is not
