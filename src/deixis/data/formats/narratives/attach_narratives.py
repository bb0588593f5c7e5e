"""Attach narratives to the images they describe."""

import re
from collections.abc import Sequence
from pathlib import Path

from deixis.data.formats.narratives.localized_narratives import LazyNarrations, NarrativeFile
from deixis.data.parsing.problems import CorpusProblem, ReportProblem, refuse

_COCO = re.compile(r"^COCO_\w+?_(?=\d+$)")


def narrated_texts(
    narratives: Sequence[NarrativeFile],
    files: Sequence[str],
    first_text: int,
    report: ReportProblem = refuse,
) -> tuple[list[str], list[int], LazyNarrations]:
    """The narrated texts of some images, their owners, and the narrations by text.

    A file of narratives may describe many more images than there are, but not none of them.
    """
    ids = picture_ids(files) if narratives else {}
    texts: list[str] = []
    owners: list[int] = []
    places: dict[int, tuple[NarrativeFile, int]] = {}
    for file in narratives:
        known = [row for row, image in enumerate(file.images) if image in ids]
        if len(file) and not known:
            what = f"no image_id, as '{file.images[0]}', is a picture of the corpus"
            report(CorpusProblem("text without image", str(file.path), what))
        for row in known:
            image = ids[file.images[row]]
            if image is None:
                what = f"'{file.images[row]}' fits several pictures"
                report(CorpusProblem("text without image", file.where(row), what))
                continue
            places[first_text + len(texts)] = (file, row)
            texts.append(file.texts[row])
            owners.append(image)
    return texts, owners, LazyNarrations(places)


def picture_ids(files: Sequence[str]) -> dict[str, int | None]:
    """The ids narratives may use: file name, its stem, and the stem without leading zeros.

    ``COCO_val2014_000000391895.jpg`` is known by its number too.

    What stands for two images stands for none, but a whole relative name is never mistaken.
    """
    ids: dict[str, int | None] = {}
    for image, file in enumerate(files):
        stem = Path(file).stem
        number = _COCO.sub("", stem).lstrip("0") or "0"
        for name in {Path(file).name, stem, number}:
            ids[name] = None if name in ids else image
    whole = {file.rpartition(".")[0]: image for image, file in enumerate(files) if "/" in file}
    return ids | whole | {file: image for image, file in enumerate(files)}
