"""``groundings.jsonl``: one line per image with entity boxes and the phrases of each caption.

A line holds ``file``, ``boxes`` (``{entity: [[xmin, xmax, ymin, ymax], …]}``, relative) and
``captions``, per caption a list of ``{start, end, entity, types}`` or null where it has no phrases
annotated.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from deixis.data.corpus import Corpus
from deixis.data.groundings.groundings import GroundedText, Groundings
from deixis.data.groundings.placed_phrase import EdgeBox, GroundedPhrase
from deixis.data.parsing.problems import refuse
from deixis.data.parsing.text_lines import json_lines
from deixis.errors import DataError

FILE = "groundings.jsonl"


def read_groundings_jsonl(path: Path, corpus: Corpus) -> Groundings:
    """Read the lines whose image the corpus has; captions are matched by their order."""
    texts = texts_by_file(corpus)
    found: dict[tuple[str, str], GroundedText] = {}
    for line, record in json_lines(path, refuse):
        where = f"{path}:{line}"
        try:
            name, captions = PurePosixPath(record["file"]).name, record["captions"]
            if name not in texts:
                continue
            if len(captions) != len(texts[name]):
                what = f"{len(captions)} captions of {name}; the corpus has {len(texts[name])}"
                raise DataError(f"{where}: {what}")
            for text, phrases in zip(texts[name], captions, strict=True):
                if phrases is not None:
                    found[name, text] = _grounded(phrases, record["boxes"], len(text), where)
        except (KeyError, TypeError, ValueError) as error:
            what = f"not a line of groundings ({type(error).__name__}: {error})"
            raise DataError(f"{where}: {what}") from error
    return Groundings(found)


def texts_by_file(corpus: Corpus) -> dict[str, list[str]]:
    """The captions of each image in their order, by the image's file name."""
    captions = corpus.captions()
    found: dict[str, list[str]] = {PurePosixPath(file).name: [] for file in captions.files}
    for text, owner in zip(captions.texts, captions.owners.tolist(), strict=True):
        found[PurePosixPath(captions.files[owner]).name].append(text)
    return found


def _grounded(
    phrases: Iterable[Mapping[str, Any]], boxes: Mapping[str, Any], length: int, where: str
) -> GroundedText:
    found = []
    for phrase in phrases:
        start, end, entity = int(phrase["start"]), int(phrase["end"]), str(phrase["entity"])
        if not 0 <= start < end <= length:
            raise DataError(f"{where}: a phrase at characters {start} to {end}, of {length}")
        own = tuple(_box(box, where) for box in boxes.get(entity, ()))
        found.append(GroundedPhrase(start, end, entity, tuple(map(str, phrase["types"])), own))
    return tuple(sorted(found, key=lambda phrase: phrase.start))


def _box(edges: Sequence[Any], where: str) -> EdgeBox:
    xmin, xmax, ymin, ymax = (float(edge) for edge in edges)
    if not (0 <= xmin <= xmax <= 1 and 0 <= ymin <= ymax <= 1):
        found = [xmin, xmax, ymin, ymax]
        raise DataError(f"{where}: the box {found} is not xmin, xmax, ymin, ymax within 0 to 1")
    return xmin, xmax, ymin, ymax
