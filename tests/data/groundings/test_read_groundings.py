"""Groundings: spans point at the words they mean, in the corpus' own text."""

import json
from pathlib import Path

import numpy as np
import pytest

from deixis.data.corpus import Corpus
from deixis.data.groundings.read_groundings import read_groundings
from deixis.errors import DataError
from deixis.runs.data_spec import DataSpec
from deixis.runs.find_corpus import find_corpus
from layouts.entities import write_entities, write_flickr30k_entities

SENTENCES = (
    "[/EN#1/people Two men] in [/EN#2/clothing/other `` red '' shirts] run .",
    "A [/EN#0/notvisual day] at [/EN#3/scene the beach] .",
)
TEXTS = ('Two men in "red" shirts run.', "A day at  the beach", "A day at the beach.")


def corpus_of(texts, files=("flickr30k-images/36979.jpg",), owners=None):
    owners = np.zeros(len(texts), dtype=np.int64) if owners is None else np.array(owners)
    pairs = np.stack([owners, np.arange(len(texts))], axis=1)
    return Corpus("f", Path("."), tuple(files), tuple(texts), owners, pairs, ("test",) * len(files))


def test_entities_are_found_in_a_text_that_is_not_tokenised(tmp_path):
    boxes = {1: [(1, 1, 250, 200), (251, 201, 500, 400)], 2: [(101, 41, 200, 80)]}
    write_entities(tmp_path, ["36979"], [SENTENCES], [boxes], ["test"])
    corpus = corpus_of(TEXTS)
    found = read_groundings(tmp_path, corpus).of_corpus(corpus)
    assert found[1] is None  # no full stop: another sentence
    assert [(corpus.texts[2][p.start : p.end], p.entity, p.boxes) for p in found[2]] == [
        ("the beach", "3", ())
    ]
    men = read_groundings(tmp_path, corpus).of_text("36979.jpg", corpus.texts[0])
    assert men is not None
    assert [corpus.texts[0][p.start : p.end] for p in men] == ["Two men", '"red" shirts']
    assert [p.types for p in men] == [("people",), ("clothing", "other")]
    assert men[0].boxes == ((0.0, 0.5, 0.0, 0.5), (0.5, 1.0, 0.5, 1.0))
    assert men[1].boxes == ((0.2, 0.4, 0.1, 0.2),)


def test_groundings_follow_their_texts_into_a_part_of_the_corpus(tmp_path):
    lines = [
        {
            "file": f"{name}.jpg",
            "boxes": {"7": [[0.1, 0.2, 0.3, 0.4]]},
            "scene": [],
            "unboxed": [],
            "captions": [[{"start": 2, "end": 5, "entity": "7", "types": ["animals"]}], None],
        }
        for name in "ab"
    ]
    path = tmp_path / "groundings.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    texts = ("A dog", "nothing", "A cat", "nothing else")
    corpus = corpus_of(texts, ("images/a.jpg", "images/b.jpg"), [0, 0, 1, 1])
    groundings = read_groundings(tmp_path, corpus)
    part = corpus.keep(images=np.array([False, True]))
    first, second = groundings.of_corpus(part)
    assert second is None and first is not None and len(groundings) == 2
    assert (part.texts[0][first[0].start : first[0].end], first[0].boxes) == (
        "cat",
        ((0.1, 0.2, 0.3, 0.4),),
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"captions": [None]}, "1 captions of a.jpg; the corpus has 2"),
        ({"boxes": {"7": [[0.5, 0.1, 0, 1]]}}, "is not xmin, xmax, ymin, ymax"),
        ({"boxes": None}, "not a line of groundings"),
        (
            {"captions": [[{"start": 2, "end": 50, "entity": "7", "types": []}], None]},
            "a phrase at characters 2 to 50, of 5",
        ),
    ],
)
def test_a_wrong_line_is_named(tmp_path, change, message):
    phrase = {"start": 2, "end": 5, "entity": "7", "types": []}
    line = {"file": "a.jpg", "boxes": {}, "captions": [[phrase], None]} | change
    (tmp_path / "groundings.jsonl").write_text(json.dumps(line))
    with pytest.raises(DataError, match=message) as error:
        read_groundings(tmp_path, corpus_of(("A dog", "no"), ("a.jpg",)))
    assert "groundings.jsonl:1" in str(error.value)


def test_entities_beside_the_pictures_of_flickr30k_give_phrases_to_every_split(tmp_path):
    root = write_flickr30k_entities(tmp_path / "flickr30k")
    lists = [set((root / f"{name}.txt").read_text().split()) for name in ("train", "val", "test")]
    assert [len(ids) for ids in lists] == [20, 6, 6] and len(set.union(*lists)) == 32
    corpus = find_corpus(DataSpec(corpus=str(root), texts="phrases"), lambda *_: None)
    assert len(corpus.phrases) == 32 * 5 * 2
    assert set(corpus.splits) == {"train", "val", "test"}
    first, second = corpus.phrases[:2]
    assert first.text.startswith(first.words) and second.words in second.text
    assert second.phrase.boxes == ((0.5, 0.92, 0.25, 0.875),)


@pytest.mark.parametrize("edge", ["nan", "inf", "-5000"])
def test_a_box_of_entities_that_is_none_is_refused(tmp_path, edge):
    boxes = [{"1": [(10.0, 20.0, 100.0, 200.0)]}]
    write_entities(tmp_path / "e", ["36979"], [SENTENCES], boxes, ["test"])
    file = tmp_path / "e" / "Annotations" / "36979.xml"
    start, found, rest = file.read_text().partition("<xmax>")
    assert found
    file.write_text(f"{start}<xmax>{edge}{rest[rest.index('<') :]}")
    with pytest.raises(DataError, match=r"36979\.xml: not an annotation.*the box"):
        read_groundings(tmp_path / "e", corpus_of(TEXTS))


def test_a_damaged_annotation_and_a_folder_without_groundings_are_refused(tmp_path):
    write_entities(tmp_path / "e", ["36979"], [SENTENCES], [{}], ["test"])
    (tmp_path / "e" / "Annotations" / "36979.xml").write_text("<annotation><size>")
    with pytest.raises(DataError, match=r"36979\.xml: not an annotation"):
        read_groundings(tmp_path / "e", corpus_of(TEXTS))
    with pytest.raises(DataError, match="holds no groundings"):
        read_groundings(tmp_path, corpus_of(TEXTS))
