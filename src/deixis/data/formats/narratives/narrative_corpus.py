"""A file of Localized Narratives as a corpus of its own."""

from collections.abc import Iterator
from pathlib import Path

from deixis.data.formats.imagefolder import pictures_in
from deixis.data.formats.narratives.attach_narratives import picture_ids
from deixis.data.formats.narratives.localized_narratives import NarrativeFile
from deixis.data.parsing.listing import ImageRow, Listing
from deixis.data.parsing.problems import ReportProblem


def is_narrative_corpus(path: Path) -> bool:
    """Whether a file of JSON lines begins with a narrative."""
    if not path.is_file() or path.suffix != ".jsonl":
        return False
    with path.open("rb") as file:
        first = file.readline()
    return b'"image_id"' in first and b'"caption"' in first


def list_narrative_corpus(path: Path, report: ReportProblem) -> Listing:
    """List the images that a file of narratives describes, in order.

    Their pictures are looked for below the file's folder; an image without one is called by its
    id. The file's name says the split, as the published ones do.
    """
    file = NarrativeFile(path, report)
    return Listing(path.stem, path.parent, _rows(file), narratives=(file,))


def _rows(file: NarrativeFile) -> Iterator[ImageRow]:
    pictures = pictures_in(file.path.parent)
    ids = picture_ids(pictures)
    split = file.split or "train"
    seen: set[str] = set()
    for row, image in enumerate(file.images):
        if image not in seen:
            seen.add(image)
            place = ids.get(image)
            name = f"{image}.jpg" if place is None else pictures[place]
            yield ImageRow(file.where(row), name, split=split)
