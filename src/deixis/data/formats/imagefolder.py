"""Image folders: pictures in folders, at most with a metadata file and narratives beside them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deixis.data.formats.imagefolder_metadata import NAMES, folder_split, read_metadata
from deixis.data.formats.narratives.attach_narratives import picture_ids
from deixis.data.formats.narratives.localized_narratives import NarrativeFile, narratives_in
from deixis.data.parsing.listing import ImageRow, Listing
from deixis.data.parsing.problems import CorpusProblem, ReportProblem
from deixis.data.split_names import split_name
from deixis.errors import DataError
from deixis.features.store.picture_formats import PICTURE_TYPES
from deixis.files import parse_json

SPLITS = ("train", "val", "test")


def list_imagefolder(root: Path, report: ReportProblem) -> Listing:
    """List a folder of pictures.

    The first folder below the root names the split, as ``train``, ``val`` or ``test``; what lies
    elsewhere is ``train``, or of the split whose narratives describe it. With metadata, the corpus
    is the images it lists; without, all pictures, and no texts but narratives.
    """
    metadata = sorted(path for name in NAMES for path in root.rglob(name))
    pictures = [] if metadata else pictures_in(root)
    if not metadata and not pictures:
        raise DataError(f"{root} holds no picture ({', '.join(PICTURE_TYPES)}) and no {NAMES[0]}")
    about = _about(root)
    narratives = narratives_in(root, report)
    splits = {} if metadata else _narrated_splits(narratives, pictures, report)
    names = about.get("label_names")
    return Listing(
        str(about.get("name", root.resolve().name)),
        root,
        _listed(root, metadata, report) if metadata else _found(pictures, splits),
        None if names is None else tuple(names),
        narratives,
        tuple(path for path in (root / "regions" / "values.npy",) if path.is_file()),
    )


def pictures_in(root: Path) -> list[str]:
    """All files below a folder that are called like pictures, relative to it, in order."""
    paths = sorted(path for path in root.rglob("*") if path.suffix.lower() in PICTURE_TYPES)
    return [path.relative_to(root).as_posix() for path in paths]


def _listed(root: Path, metadata: list[Path], report: ReportProblem) -> Iterator[ImageRow]:
    for path in metadata:
        for row in read_metadata(path, path.parent.relative_to(root).as_posix(), report):
            if ".." not in Path(row.file).parts and not (root / row.file).is_file():
                what = f"there is no picture {root / row.file}"
                report(CorpusProblem("missing image", row.where, what))
            yield row


def _found(pictures: Iterable[str], splits: Mapping[str, str]) -> Iterator[ImageRow]:
    for file in pictures:
        said = split_name(file.partition("/")[0]) in SPLITS  # a folder's word counts more
        yield ImageRow(file, file, split=folder_split(file) if said else splits.get(file, "train"))


def _narrated_splits(
    narratives: Iterable[NarrativeFile], pictures: Sequence[str], report: ReportProblem
) -> dict[str, str]:
    """The split of each picture that a file of one split narrates, as Flickr30k's files do."""
    ids: dict[str, int | None] = {}
    splits: dict[str, str] = {}
    for file in narratives:
        ids = ids or picture_ids(pictures)
        for row, image in enumerate(file.images if file.split else ()):
            place = ids.get(image)
            if place is None:
                continue
            before = splits.setdefault(pictures[place], file.split)
            if before != file.split:
                what = f"image '{image}' is narrated in split '{before}' too"
                report(CorpusProblem("malformed", file.where(row), what))
    return splits


def _about(root: Path) -> dict[str, Any]:
    """What ``corpus.json`` says about the corpus; nothing when there is none."""
    path = root / "corpus.json"
    if not path.is_file():
        return {}
    try:
        about = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error})") from error
    return dict(about)
