"""Words say what, places say where: real graphs, a small head, pictures of discs and squares."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import BOTTOM, LEFT, RIGHT, TOP
from deixis.errors import SearchError
from deixis.features.places.pointed_region import region_of_boxes
from deixis.features.trace.drawing import Drawing, Link
from deixis.features.trace.narration import Point, TimedWord
from deixis.search.encoders.load_encoder import load_encoder, packaged
from deixis.search.library.library_store import LibraryStore
from deixis.search.places.named_places import drawing_at, read_points
from deixis.search.query.encode_queries import encode_queries
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher

TEXT = "a dog and a man"


def names(results) -> list[str]:
    return [Path(hit.paths[0]).stem for hit in results.hits]


def scores(results) -> list[float]:
    return [hit.score for hit in results.hits]


def test_what_was_pointed_at_where_decides_the_order(dogs_and_men):
    found = dogs_and_men.search(TEXT, points={"a dog": LEFT, "a man": RIGHT})
    assert names(found)[0] == "dog-left-man-right"
    found = dogs_and_men.search(TEXT, points={"a dog": RIGHT, "a man": LEFT})
    assert names(found)[0] == "dog-right-man-left"
    assert found.text_order and all(hit.text_score is not None for hit in found.hits)
    assert names(dogs_and_men.search(TEXT, points={"a dog": TOP}))[0] == "dog-top"
    assert names(dogs_and_men.search(TEXT, points={"a man": TOP}))[0] == "man-top"


def test_a_stroke_without_a_phrase_means_that_something_is_there(dogs_and_men):
    found = dogs_and_men.search(TEXT, points={None: TOP})
    assert set(names(found)[:2]) == {"dog-top", "man-top"} and not found.notes


def test_a_phrase_pointed_at_twice_should_be_at_both_places(dogs_and_men):
    twice = dogs_and_men.search("two dogs", points={"two dogs": [LEFT, RIGHT]})
    assert names(twice)[0] == "two-dogs"
    (query,) = encode_queries(dogs_and_men.encoder, [twice.query])
    assert len(query.pointed) == 1
    np.testing.assert_array_equal(query.pointed.regions[0], region_of_boxes([LEFT, RIGHT]))


def test_an_empty_canvas_and_a_slider_at_words_rank_bit_equal_to_the_text(dogs_and_men, tmp_path):
    """Also bit-equal to the same model without a place head."""
    plain = dogs_and_men.search(TEXT)
    drawing = replace(drawing_at(TEXT, {"a dog": LEFT}), weight=0.0)
    weightless = dogs_and_men.search(Query(text=TEXT, drawing=drawing))
    assert (names(weightless), scores(weightless)) == (names(plain), scores(plain))
    assert weightless.text_order == () and weightless.notes == plain.notes
    bare = load_encoder(packaged())
    with LibraryStore(dogs_and_men.folder) as store:
        files = sorted(entry.path for entry in store.generation.manifest.files().values())
        encoded = bare.encode_image([Path(file) for file in files])
        by_hash = {e.path: e.hash for e in store.generation.manifest.files().values()}
        rows = [store.generation.manifest.content(by_hash[file]).row for file in files]
        stored = store.generation.vectors()[rows]
    np.testing.assert_array_equal(encoded.parts.vectors[:, 0], stored)


def test_the_slider_says_how_much_places_count(dogs_and_men):
    def at(weight):
        drawing = replace(drawing_at(TEXT, {"a dog": LEFT}), weight=weight)
        (found, *_) = dogs_and_men.search(Query(text=TEXT, drawing=drawing)).hits
        return found.score - found.text_score

    assert at(1.0) == pytest.approx(2 * at(0.5), rel=1e-4)
    assert at(0.25) == pytest.approx(at(0.5) / 2, rel=1e-4)


def test_cells_come_from_the_pass_that_gives_the_vectors(dogs_and_men, tmp_path):
    file = sorted((dogs_and_men.folder.parent / "pictures").iterdir())[0]
    reader = dogs_and_men.encoder.places
    encoded = dogs_and_men.encoder.encode_image([file])
    alone = reader.cells([file])
    np.testing.assert_array_equal(encoded.cells.values, alone.values)
    np.testing.assert_array_equal(encoded.cells.scale, alone.scale)
    assert encoded.cells.values.shape == (1, 81, 64)


def stroke(box, start=0.0):
    xmin, xmax, ymin, ymax = box
    return (Point(xmin, ymin, start), Point(xmax, ymax, start + 0.5))


WORDS = tuple(TimedWord(word, 1.0 * i, 1.0 * i + 0.9) for i, word in enumerate(TEXT.split()))


@pytest.mark.parametrize(
    "drawing",
    [
        Drawing((stroke(LEFT), stroke(RIGHT)), links=(Link(0, 5, 0), Link(10, 15, 1))),
        Drawing((stroke(LEFT), stroke(RIGHT, 3.0))),  # in the order of the phrases
        Drawing((stroke(LEFT, 0.5), stroke(RIGHT, 4.0)), words=WORDS),  # while they are spoken
        # One stroke that goes on, from the dog to the man, while both are spoken.
        Drawing((stroke(LEFT, 0.5) + stroke(RIGHT, 4.0),), words=WORDS),
        drawing_at(TEXT, [LEFT, RIGHT]),
        drawing_at(TEXT, read_points(["a dog=0.05,0.35,0.35,0.65", "A MAN=0.65,0.95,0.35,0.65"])),
    ],
    ids=["linked", "in order", "spoken", "spoken in one stroke", "boxes", "named"],
)
def test_every_way_to_say_which_stroke_is_which_phrase_feeds_the_same_regions(
    dogs_and_men, drawing
):
    found = dogs_and_men.search(Query(text=TEXT, drawing=drawing))
    wanted = dogs_and_men.search(TEXT, points={"a dog": LEFT, "a man": RIGHT})
    assert names(found)[0] == "dog-left-man-right" and not found.notes
    assert scores(found)[0] == pytest.approx(scores(wanted)[0], abs=0.02)


def test_strokes_that_go_with_no_words_are_read_as_something_and_said_so(dogs_and_men):
    many = Drawing(tuple(stroke(TOP, float(i)) for i in range(9)))
    found = dogs_and_men.search(Query(text="a dog", drawing=many))
    assert [note.code for note in found.notes] == ["trace_not_aligned"]
    assert "something is here" in found.notes[0].text


def test_places_are_relative_to_the_picture_whatever_its_shape(dogs_and_men):
    """A dog at the bottom of a tall picture is where the bottom of a wide canvas is pointed at."""
    found = dogs_and_men.search("a dog", points={"a dog": BOTTOM})
    assert set(names(found)[:2]) == {"dog-bottom", "dog-bottom-tall"}


def test_a_picture_without_cells_is_ordered_by_the_text_and_said_so(dogs_and_men, tmp_path):
    pictures = dogs_and_men.folder.parent / "pictures"
    bare = load_encoder(packaged())
    with LibraryStore.open_or_create(tmp_path / "library", bare) as store:
        store.add([pictures], bare)
    with LibraryStore(tmp_path / "library") as store:
        searcher = Searcher(dogs_and_men.encoder, store)
        query = Query(text=TEXT, drawing=drawing_at(TEXT, {"a dog": LEFT}))
        found = searcher.search(query)
        assert names(found) == names(searcher.search(Query(text=TEXT)))
        assert [note.code for note in found.notes] == ["places_missing"]
        assert "index again" in found.notes[0].text


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        ({"a cat": LEFT}, "'a cat' is not in the query"),
        ({"": LEFT}, "is not in the query"),
        ({"a dog": (0.4, 0.1, 0.5, 0.9)}, "has no area"),
        ({"a dog": (0.1, 0.1, 0.5, 0.9)}, "has no area"),
        ({"a dog": (0.1, 1.4, 0.5, 0.9)}, "each from 0 to 1"),
        ({"a dog": (0.1, float("nan"), 0.5, 0.9)}, "not a number"),
        ({"a dog": (0.1, float("inf"), 0.5, 0.9)}, "each from 0 to 1"),
        ({"a dog": (0.1, 0.2, 0.3)}, "x,y or xmin,xmax,ymin,ymax"),
        ([(float("nan"), 0.5)], "not a number"),
    ],
)
def test_bad_places_are_refused_with_a_sentence(dogs_and_men, points, reason):
    with pytest.raises(SearchError, match=reason):
        dogs_and_men.search(TEXT, points=points)


def test_a_stroke_with_a_point_that_is_no_number_is_refused():
    with pytest.raises(SearchError, match="not a number"):
        Query(text="a dog", drawing=Drawing(((Point(0.1, float("nan"), 0.0),),)))


@pytest.mark.parametrize("said", ["a dog", "a dog=0.1,x,0.5,0.9", "a dog="])
def test_what_the_command_cannot_read_is_refused_with_a_sentence(said):
    with pytest.raises(SearchError, match="wanted PHRASE=xmin,xmax,ymin,ymax"):
        Query.of("a dog", at=[said])


def test_more_phrases_than_are_read_are_refused_and_twenty_thousand_points_are_not(dogs_and_men):
    text = " and ".join(f"dog{number}" for number in range(30))
    many = {f"dog{number}": LEFT for number in range(30)}
    with pytest.raises(SearchError, match="at most 24"):
        dogs_and_men.search(text, points=many)
    turns = np.arange(40.0)
    places = np.stack([0.2 + 0.1 * np.sin(turns), 0.5 + 0.1 * np.cos(turns)], axis=1).tolist()
    scribbles = tuple(
        tuple(Point(x, y, s + i / 40) for i, (x, y) in enumerate(places)) for s in range(500)
    )
    found = dogs_and_men.search(Query(text="a dog", drawing=Drawing(scribbles)))
    assert "dog-left-man-right" in names(found)[:3]
