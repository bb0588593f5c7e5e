"""Image folders: pictures in folders, at most with a metadata file and narratives beside them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deixis.data.corpus import Corpus
from deixis.data.metadata import NAMES, folder_split, read_metadata
from deixis.data.narratives import NarrativeFile
from deixis.data.problems import Problem, Tell, refuse
from deixis.data.rows import Listing, Row, gather
from deixis.errors import DataError

PICTURES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})


def read_imagefolder(root: Path) -> Corpus:
    """Read a folder of pictures as a corpus.

    The first folder below the root names the split, as ``train``, ``val`` or ``test``; what lies
    elsewhere is ``train``. With metadata, the corpus is the images it lists; without, all
    pictures, and no texts.
    """
    return gather(list_imagefolder(root, refuse))


def list_imagefolder(root: Path, tell: Tell) -> Listing:
    """List a folder of pictures."""
    metadata = sorted(path for name in NAMES for path in root.rglob(name))
    pictures = [] if metadata else pictures_in(root)
    if not metadata and not pictures:
        raise DataError(
            f"{root} holds no picture ({', '.join(sorted(PICTURES))}) and no {NAMES[0]}"
        )
    about = _about(root)
    told = {*root.glob("narratives*.jsonl"), *root.glob("*localized_narratives*.jsonl")}
    names = about.get("label_names")
    return Listing(
        str(about.get("name", root.resolve().name)),
        root,
        _listed(root, metadata, tell) if metadata else map(_found, pictures),
        None if names is None else tuple(names),
        tuple(NarrativeFile(path, tell) for path in sorted(told)),
        tuple(path for path in (root / "regions" / "values.npy",) if path.is_file()),
    )


def pictures_in(root: Path) -> list[str]:
    """All files below a folder that are called like pictures, relative to it, in order."""
    paths = sorted(path for path in root.rglob("*") if path.suffix.lower() in PICTURES)
    return [path.relative_to(root).as_posix() for path in paths]


def _listed(root: Path, metadata: list[Path], tell: Tell) -> Iterator[Row]:
    for path in metadata:
        for row in read_metadata(path, path.parent.relative_to(root).as_posix(), tell):
            if ".." not in Path(row.file).parts and not (root / row.file).is_file():
                what = f"there is no picture {root / row.file}"
                tell(Problem("missing image", row.where, what))
            yield row


def _found(file: str) -> Row:
    return Row(file, file, split=folder_split(file))


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
