"""Narratives find the images they tell of."""

from collections.abc import Sequence
from pathlib import Path

from deixis.data.narratives import LazyNarrations, NarrativeFile
from deixis.data.problems import Problem, Tell, refuse


def tellings(
    narratives: Sequence[NarrativeFile], files: Sequence[str], first_text: int, tell: Tell = refuse
) -> tuple[list[str], list[int], LazyNarrations]:
    """The texts told of some images, their owners, and the narrations by text.

    A file of narratives may tell of many more images than there are, but not of none.
    """
    ids = picture_ids(files) if narratives else {}
    texts: list[str] = []
    owners: list[int] = []
    places: dict[int, tuple[NarrativeFile, int]] = {}
    for file in narratives:
        known = [row for row, image in enumerate(file.images) if image in ids]
        if len(file) and not known:
            what = f"no image_id, as '{file.images[0]}', is a picture of the corpus"
            tell(Problem("text without image", str(file.path), what))
        for row in known:
            image = ids[file.images[row]]
            if image is None:
                what = f"'{file.images[row]}' fits several pictures"
                tell(Problem("text without image", file.where(row), what))
                continue
            places[first_text + len(texts)] = (file, row)
            texts.append(file.texts[row])
            owners.append(image)
    return texts, owners, LazyNarrations(places)


def picture_ids(files: Sequence[str]) -> dict[str, int | None]:
    """The ids narratives may use: file name, its stem, and the stem without leading zeros.

    What stands for two images stands for none, but a whole relative name is never mistaken.
    """
    ids: dict[str, int | None] = {}
    for image, file in enumerate(files):
        stem = Path(file).stem
        for name in {Path(file).name, stem, stem.lstrip("0") or "0"}:
            ids[name] = None if name in ids else image
    whole = {file.rpartition(".")[0]: image for image, file in enumerate(files) if "/" in file}
    return ids | whole | {file: image for image, file in enumerate(files)}
