"""Flickr30k Entities as it unpacks: ``Sentences/*.txt`` and ``Annotations/*.xml``.

A sentence marks its phrases as ``[/EN#7/people/other Two men]``; entity 0 is not visual. The XML
of an image gives its size and, per entity, boxes in pixels counted from 1, or says that the entity
is the whole scene or has no box.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import numpy as np

from deixis.data.corpus import Corpus
from deixis.data.groundings.groundings import GroundedText, Groundings
from deixis.data.groundings.groundings_jsonl import texts_by_file
from deixis.data.groundings.placed_phrase import EdgeBox, GroundedPhrase
from deixis.data.parsing.problems import refuse
from deixis.data.parsing.text_lines import numbered_lines
from deixis.errors import DataError

SENTENCES, ANNOTATIONS = "Sentences", "Annotations"
NOT_VISUAL = "0"
_MARK = re.compile(r"\[/EN#(\d+)((?:/[^/\s\]]+)+) ([^\]]*)\]")
_QUOTES = str.maketrans({"`": "'", "\N{RIGHT SINGLE QUOTATION MARK}": "'", '"': "'"})

Boxes = Mapping[str, tuple[EdgeBox, ...]]  # by entity


def is_entities(path: Path) -> bool:
    """Whether a folder holds both parts of Flickr30k Entities."""
    return (path / SENTENCES).is_dir() and (path / ANNOTATIONS).is_dir()


def read_entities(path: Path, corpus: Corpus) -> Groundings:
    """Read the groundings of a corpus' texts.

    The sentences are tokenised and a corpus' captions need not be: a caption and a sentence are
    the same when they agree but for blanks, case and the kind of quotes. A caption that agrees
    with no sentence of its image has no groundings.
    """
    found: dict[tuple[str, str], GroundedText] = {}
    for name, texts in texts_by_file(corpus).items():
        sentences = path / SENTENCES / f"{PurePosixPath(name).stem}.txt"
        if not sentences.is_file():
            continue
        boxes = read_boxes(path / ANNOTATIONS / f"{PurePosixPath(name).stem}.xml")
        marked = [parse_sentence(line) for _, line in numbered_lines(sentences, refuse) if line]
        known = {_squeezed(sentence): (sentence, phrases) for sentence, phrases in marked}
        for text in texts:
            if (same := known.get(_squeezed(text))) is not None:
                found[name, text] = _moved(*same, text, boxes)
    return Groundings(found)


def parse_sentence(line: str) -> tuple[str, GroundedText]:
    """A sentence without its marks, and its visual phrases, still without boxes.

    >>> sentence, (phrase,) = parse_sentence("[/EN#7/people Two men] run .")
    >>> sentence, phrase.start, phrase.end, phrase.entity, phrase.types
    ('Two men run .', 0, 7, '7', ('people',))
    """
    plain, phrases, at = "", [], 0
    for mark in _MARK.finditer(line):
        plain += line[at : mark.start()]
        entity, types, words = mark[1], tuple(mark[2][1:].split("/")), mark[3]
        if entity != NOT_VISUAL and words:
            phrases.append(GroundedPhrase(len(plain), len(plain) + len(words), entity, types))
        plain, at = plain + words, mark.end()
    return plain + line[at:], tuple(phrases)


def read_boxes(path: Path) -> Boxes:
    """The boxes of each entity of an image, relative to the picture."""
    try:
        root = ElementTree.parse(path).getroot()
        width, height = (float(_text(root, f"size/{side}")) for side in ("width", "height"))
        found: dict[str, list[EdgeBox]] = {}
        for thing in root.iter("object"):
            if thing.find("bndbox") is None:  # the whole scene, or drawn by nobody
                continue
            x1, y1, x2, y2 = (
                float(_text(thing, f"bndbox/{edge}")) for edge in ("xmin", "ymin", "xmax", "ymax")
            )
            box = ((x1 - 1) / width, x2 / width, (y1 - 1) / height, y2 / height)
            if not (np.isfinite(box).all() and x1 <= x2 and y1 <= y2):
                raise ValueError(f"the box {[x1, y1, x2, y2]} is not xmin, ymin, xmax, ymax")
            xmin, xmax, ymin, ymax = (min(max(edge, 0.0), 1.0) for edge in box)
            for name in thing.iter("name"):
                found.setdefault(str(name.text), []).append((xmin, xmax, ymin, ymax))
    except (OSError, ElementTree.ParseError, ValueError, ZeroDivisionError) as error:
        raise DataError(f"{path}: not an annotation of Flickr30k Entities ({error})") from error
    return {entity: tuple(boxes) for entity, boxes in found.items()}


def _text(element: ElementTree.Element, path: str) -> str:
    found = element.findtext(path)
    if found is None:
        raise ValueError(f"it has no {path}")
    return found


def _letters(text: str) -> list[tuple[str, int]]:
    """The characters that decide whether two texts are the same, each with its place."""
    found: list[tuple[str, int]] = []
    for place, letter in enumerate(text.lower().translate(_QUOTES)):
        doubled = letter == "'" and bool(found) and found[-1] == ("'", place - 1)
        if not letter.isspace() and not doubled:
            found.append((letter, place))
    return found


def _squeezed(text: str) -> str:
    return "".join(letter for letter, _ in _letters(text))


def _moved(sentence: str, phrases: GroundedText, text: str, boxes: Boxes) -> GroundedText:
    """The phrases of a sentence at their places in the text that agrees with it."""
    pairs = zip(_letters(sentence), _letters(text), strict=True)
    places = {before: after for (_, before), (_, after) in pairs}
    found = []
    for phrase in phrases:
        inside = [places[p] for p in range(phrase.start, phrase.end) if p in places]
        if inside:
            own = boxes.get(phrase.entity, ())
            found.append(replace(phrase, start=inside[0], end=inside[-1] + 1, boxes=own))
    return tuple(found)
