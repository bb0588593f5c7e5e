"""Maps show where phrases are, by the head that scores pointing; shares are what it adds."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent.parent))

from deixis.cli.command import app, load_verbs
from deixis.errors import DataError
from deixis.explanation.attribution import explain
from deixis.explanation.explain_file import explain_file, place_lines
from deixis.explanation.mixed_attribution import explain_mixed
from deixis.files import write_json
from deixis.runs.run import Run
from deixis.search.encoders.load_encoder import load_encoder
from deixis.search.places.named_places import drawing_at
from deixis.search.query.query import Query
from place_runs import around, drawn, place_run

TEXT, LEFT, RIGHT = "a dog and a man", around(0.2, 0.5), around(0.8, 0.5)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = place_run(tmp_path_factory.mktemp("maps") / "run")
    metrics = Run(folder).metrics | {"pointing": {"game": {"all": 81.25}}}
    write_json(Run(folder).path("metrics"), metrics)
    return folder


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    file = tmp_path_factory.mktemp("picture") / "a.png"
    drawn(LEFT, RIGHT, 90).save(file)
    return file


def peak(cells):
    y, x = divmod(int(np.argmax(cells)), 9)
    return (x + 0.5) / 9, (y + 0.5) / 9


def test_every_phrase_has_a_map_that_peaks_where_it_is(run, picture):
    found = explain(run, TEXT, picture)
    assert found.by == "places" and found.game == 81.25
    assert [TEXT[slice(*one.span)] for one in found.maps] == ["dog", "man"]
    assert [one.share for one in found.maps] == [None, None]
    for one, box in zip(found.maps, (LEFT, RIGHT), strict=True):
        assert one.cells.sum() == pytest.approx(1.0)
        x, y = peak(one.cells)
        assert box[0] <= x <= box[1] and box[2] <= y <= box[3]


def test_words_of_a_mixture_have_the_maps_they_have_alone(run, picture):
    encoder = load_encoder(run)
    parts = [(0.7, Query(text=TEXT)), (-0.3, Query(image=picture))]
    words, other = explain_mixed(encoder, parts, picture).parts
    alone = explain(encoder, TEXT, picture)
    assert [one.span for one in words.maps] == [one.span for one in alone.maps]
    for one, same in zip(words.maps, alone.maps, strict=True):
        assert one.cells == pytest.approx(same.cells)
    assert (words.game, other.maps) == (81.25, ())


def test_the_command_says_what_pointing_adds(run, picture):
    load_verbs(["explain"])
    places = ["--at", "a dog=0.05,0.35,0.3,0.7", "--at", "0.8,0.5"]
    said = ["explain", str(run), str(picture), TEXT, *places]
    result = CliRunner().invoke(app, [*said, "--json"], catch_exceptions=False)
    found = json.loads(result.stdout)
    assert len(found["strokes"]) == 2 and found["text_score"] is not None
    lines = CliRunner().invoke(app, said, catch_exceptions=False).stdout.splitlines()
    pointed = [line.split(maxsplit=1) for line in lines if "pointing" in line]
    assert [text for _, text in pointed] == ["pointing at a dog", "pointing at something"]
    assert [float(share) for share, _ in pointed] == pytest.approx(found["strokes"], abs=6e-4)


def test_shares_of_strokes_are_what_the_ranking_loses_without_them(run, picture):
    encoder = load_encoder(run)
    points = {"a dog": LEFT, "a man": LEFT, None: RIGHT}
    query = Query(text=TEXT, drawing=drawing_at(TEXT, points))
    found = explain(encoder, query, picture)
    shares = [one.share for one in found.maps]
    assert [one.span for one in found.maps] == [(0, 5), (10, 15), None]
    assert found.score == pytest.approx(found.text_score + sum(shares), abs=1e-5)
    np.testing.assert_allclose(found.strokes, shares, atol=1e-5)
    assert shares[0] > 0.1 > shares[1], "the man is not where he was pointed at"
    plain = found.to_dict()
    assert plain["pointing_game"] == 81.25
    assert [one["start_char"] for one in plain["phrases"]] == [0, 10, None]


def test_the_command_says_where_phrases_are_and_how_often_that_is_right(run, picture, tmp_path):
    found = explain_file(str(run), picture, TEXT, tmp_path / "why.png")
    _, dog, man, judged = place_lines(found, TEXT)
    assert "81.2 %" in judged and dog.endswith("dog") and man.endswith("man")
    with Image.open(picture) as before, Image.open(tmp_path / "why.png") as after:
        assert after.height >= 2 * before.height, "a panel per phrase"


def test_a_drawing_that_cannot_be_written_leaves_the_old_one(run, picture, tmp_path, monkeypatch):
    (tmp_path / "why.png").write_bytes(b"old")

    def cut_off(self, path, *_):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", cut_off)
    with pytest.raises(OSError, match="No space"):
        explain_file(str(run), picture, TEXT, tmp_path / "why.png")
    assert (tmp_path / "why.png").read_bytes() == b"old"
    with pytest.raises(DataError, match=r"is not the name of a picture file; call it .*why.png"):
        explain_file(str(run), picture, TEXT, tmp_path / "why.txt")


def test_a_drawing_shows_what_pointing_adds(run, picture, tmp_path):
    asked = [Query(text=TEXT), Query(text=TEXT, drawing=drawing_at(TEXT, {"a dog": LEFT}))]
    names = [tmp_path / "words.png", tmp_path / "pointed.png"]
    for query, name in zip(asked, names, strict=True):
        explain_file(str(run), picture, query, name)
    words, pointed = (np.asarray(Image.open(name).convert("L")) < 128 for name in names)
    beside = words.shape[1] - 300  # where bars are, right of the panels
    below = (len(TEXT.split()) + 1) * 24 + 6
    assert (
        pointed[below : below + 24, beside:].any() and not words[below : below + 24, beside:].any()
    )
