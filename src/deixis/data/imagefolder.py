"""Image folders: pictures in folders, at most with a metadata file and narratives beside them."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.data.metadata import NAMES, Row, read_metadata
from deixis.data.narratives import LazyNarrations, NarrativeFile
from deixis.errors import DataError

PICTURES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})
_SPLITS = {"train": "train", "test": "test"} | dict.fromkeys(
    ("val", "valid", "validation", "dev"), "val"
)


def read_imagefolder(root: Path) -> Corpus:
    """Read a folder of pictures as a corpus.

    The first folder below the root names the split, as ``train``, ``val`` or ``test``; what lies
    elsewhere is ``train``. With metadata, the corpus is the images it lists; without, all
    pictures, and no texts.
    """
    rows = _listed(root) or _found(root)
    if not rows:
        raise DataError(
            f"{root} holds no picture ({', '.join(sorted(PICTURES))}) and no {NAMES[0]}"
        )
    files = tuple(rows)
    texts = [text for row in rows.values() for text in row.texts]
    counts = [len(row.texts) for row in rows.values()]
    owners = np.repeat(np.arange(len(files)), counts)
    told, tellers, narrations = _read_narrations(root, files, len(texts))
    about = _about(root)
    labels, label_names = _labels(list(rows.values()), about.get("label_names"))
    owners = np.concatenate([owners, np.array(tellers, dtype=np.int64)])
    return Corpus(
        name=str(about.get("name", root.resolve().name)),
        root=root,
        files=files,
        texts=(*texts, *told),
        owners=owners,
        pairs=_pairs(rows, owners),
        splits=tuple(_SPLITS.get(file.split("/")[0], "train") for file in files),
        labels=labels,
        label_names=label_names,
        narrations=narrations,
        twins=_twins(rows.values()),
    )


def _listed(root: Path) -> dict[str, Row]:
    """The rows of all metadata files below the root, by image; empty when there is none."""
    rows: dict[str, Row] = {}
    for path in sorted(path for name in NAMES for path in root.rglob(name)):
        present = {p.relative_to(root).as_posix() for p in path.parent.rglob("*") if p.is_file()}
        for row in read_metadata(path):
            file = (path.parent.relative_to(root) / row.file).as_posix()
            if file not in present:
                raise DataError(f"{row.where}: there is no picture {path.parent / row.file}")
            if file in rows:
                raise DataError(f"{row.where}: {file} was listed before, at {rows[file].where}")
            rows[file] = row
    return rows


def _found(root: Path) -> dict[str, Row]:
    paths = sorted(path for path in root.rglob("*") if path.suffix.lower() in PICTURES)
    files = [path.relative_to(root).as_posix() for path in paths]
    return {file: Row(file, file, (), (), (), (-1, -1)) for file in files}


def _about(root: Path) -> dict[str, Any]:
    """What ``corpus.json`` tells of the corpus; nothing when there is none."""
    path = root / "corpus.json"
    if not path.is_file():
        return {}
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error})") from error
    return dict(about)


def _pairs(rows: dict[str, Row], owners: Int[ndarray, " text"]) -> Int[ndarray, "pair 2"]:
    """Every text with its owner, and with the other images its row says it fits."""
    index = {file: i for i, file in enumerate(rows)}
    pairs = [(int(owner), text) for text, owner in enumerate(owners)]
    text = 0
    for row in rows.values():
        for others in row.also:
            for file in others:
                if file not in index:
                    raise DataError(f"{row.where}: 'also' names {file}, which is not listed")
                pairs.append((index[file], text))
            text += 1
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _labels(
    rows: Sequence[Row], known: Sequence[str] | None
) -> tuple[Bool[ndarray, "image label"] | None, tuple[str, ...]]:
    used = {label: row for row in rows for label in row.labels}
    if not used:
        return None, ()
    names = tuple(sorted(used)) if known is None else tuple(known)
    for label, row in used.items():
        if label not in names:
            raise DataError(f"{row.where}: label '{label}' is not among those of corpus.json")
    columns = {label: column for column, label in enumerate(names)}
    labels = np.zeros((len(rows), len(names)), dtype=bool)
    for i, row in enumerate(rows):
        labels[i, [columns[label] for label in row.labels]] = True
    return labels, names


def _twins(rows: Iterable[Row]) -> Int[ndarray, "image 2"] | None:
    twins = np.array([row.twin for row in rows], dtype=np.int64)
    return twins if (twins >= 0).any() else None


def _read_narrations(
    root: Path, files: Sequence[str], first_text: int
) -> tuple[list[str], list[int], LazyNarrations]:
    """The texts of narrations of these images, their owners, and the narrations by text.

    A file of narratives may tell of many more images than the folder holds, but not of none.
    """
    ids = _ids(files)
    texts: list[str] = []
    owners: list[int] = []
    places: dict[int, tuple[NarrativeFile, int]] = {}
    for path in sorted(
        {*root.glob("narratives*.jsonl"), *root.glob("*localized_narratives*.jsonl")}
    ):
        file = NarrativeFile(path)
        known = [row for row, image in enumerate(file.images) if image in ids]
        if len(file) and not known:
            raise DataError(f"{path}: no image_id, as '{file.images[0]}', is a picture in {root}")
        for row in known:
            image = ids[file.images[row]]
            if image is None:
                raise DataError(f"{file.where(row)}: '{file.images[row]}' fits several pictures")
            places[first_text + len(texts)] = (file, row)
            texts.append(file.texts[row])
            owners.append(image)
    return texts, owners, LazyNarrations(places)


def _ids(files: Sequence[str]) -> dict[str, int | None]:
    """The ids narratives may use: file name, its stem, and the stem without leading zeros.

    What stands for two images stands for none, but a whole relative name is never mistaken.
    """
    ids: dict[str, int | None] = {}
    for image, file in enumerate(files):
        stem = Path(file).stem
        for name in {Path(file).name, stem, stem.lstrip("0") or "0"}:
            ids[name] = None if name in ids else image
    return ids | {file: image for image, file in enumerate(files)}
