"""A file of Localized Narratives as a corpus of its own."""

import re
from collections.abc import Iterator
from pathlib import Path

from deixis.data.imagefolder import pictures_in
from deixis.data.narratives import NarrativeFile
from deixis.data.problems import Tell
from deixis.data.rows import Listing, Row, split_name
from deixis.data.telling import picture_ids

_SPLIT = re.compile(r"train|validation|val|test")


def is_narrated(path: Path) -> bool:
    """Whether a file of JSON lines begins with a narrative."""
    if not path.is_file() or path.suffix != ".jsonl":
        return False
    with path.open("rb") as file:
        first = file.readline()
    return b'"image_id"' in first and b'"caption"' in first


def list_narrated(path: Path, tell: Tell) -> Listing:
    """List the images a file of narratives tells of, in the order they come.

    Their pictures are looked for below the file's folder; an image without one is called by its
    id. The file's name says the split, as the published ones do.
    """
    file = NarrativeFile(path, tell)
    return Listing(path.stem, path.parent, _rows(file), narratives=(file,))


def _rows(file: NarrativeFile) -> Iterator[Row]:
    pictures = pictures_in(file.path.parent)
    ids = picture_ids(pictures)
    found = _SPLIT.search(file.path.stem)
    split = split_name(found[0] if found else "train")
    seen: set[str] = set()
    for row, image in enumerate(file.images):
        if image not in seen:
            seen.add(image)
            place = ids.get(image)
            name = f"{image}.jpg" if place is None else pictures[place]
            yield Row(file.where(row), name, split=split)
