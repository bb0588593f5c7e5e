"""NUS-WIDE as it unpacks: ``ImageList``, ``Groundtruth``, ``NUS_WID_Tags`` and pictures."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Bool
from numpy import ndarray

from deixis.data.karpathy import existing
from deixis.data.lines import numbered_lines
from deixis.data.problems import Problem, Tell
from deixis.data.rows import Listing, Row
from deixis.data.tagged import LEFT_OUT, sharing_texts
from deixis.errors import DataError

CONCEPTS = 10  # the most frequent of the 81, which papers on label-wise retrieval use
LISTS = ("ImageList/Imagelist.txt", "ImageList/ImageList.txt")
TRUTH = "Groundtruth/AllLabels"
TAGS, KNOWN = "NUS_WID_Tags/All_Tags.txt", "NUS_WID_Tags/TagList1k.txt"


Marks = Mapping[str, Bool[ndarray, " image"]]  # of each label, which images have it


def is_nuswide(path: Path) -> bool:
    """Whether a folder has NUS-WIDE's list of images."""
    return any((path / name).is_file() for name in LISTS)


def list_nuswide(path: Path, tell: Tell) -> Listing:
    """List the ten most frequent concepts and the texts of 1,000 tags.

    Images without such a concept or tag are left out, as papers do.
    """
    for name in (TRUTH, TAGS, KNOWN):
        if not (path / name).exists():
            raise DataError(f"{path} has NUS-WIDE's list of images and no {name}")
    images = _images(path / existing(path, list(LISTS)), tell)
    labels = _labels(path / TRUTH, len(images), tell)
    rows = sharing_texts(_rows(path, images, labels, tell))
    return Listing(path.resolve().name, path, rows, tuple(labels))


def _images(path: Path, tell: Tell) -> list[str]:
    return [line.strip().replace("\\", "/") for _, line in numbered_lines(path, tell)]


def _labels(folder: Path, images: int, tell: Tell) -> Marks:
    """Which images have each of the most frequent concepts; the files hold a 0 or 1 a line."""
    content = {path: path.read_bytes() for path in sorted(folder.glob("Labels_*.txt"))}
    often = sorted(content, key=lambda path: -content[path].count(b"1"))[:CONCEPTS]
    found = {}
    for path in sorted(often):
        marks = content[path].split()
        if len(marks) != images:
            what = f"{len(marks)} lines, of {images} images"
            tell(Problem("malformed", f"{path}:{min(len(marks), images) + 1}", what))
            continue
        for line, mark in enumerate(marks, start=1):
            if mark not in (b"0", b"1"):
                what = f"found '{mark.decode(errors='replace')}', not 0 or 1"
                tell(Problem("malformed", f"{path}:{line}", what))
        found[path.stem.removeprefix("Labels_")] = np.array(marks) == b"1"
    return found


def _rows(root: Path, images: Sequence[str], labels: Marks, tell: Tell) -> Iterator[Row]:
    known = (line.strip() for _, line in numbered_lines(root / KNOWN, tell))
    order = {word: place for place, word in enumerate(known)}
    splits = _splits(root, tell)
    place = existing(root, [f"{f}{images[0]}" for f in ("Flickr/", "images/", "")])
    prefix = place.removesuffix(images[0])
    with (root / TAGS).open("rb") as file:
        for number, image in enumerate(images, start=1):
            # Bytes that are not UTF-8 stand in tags outside the list alone, which are not read.
            id, *words = file.readline().decode("utf-8", "replace").split() or [""]
            where = f"{root / TAGS}:{number}"
            if not id.isdecimal() or id != Path(image).stem.rpartition("_")[2]:
                what = f"found the tags of image '{id}'; line {number} of the images is {image}"
                tell(Problem("malformed", where, what))
                continue
            text = " ".join(sorted({w for w in words if w in order}, key=order.__getitem__))
            own = tuple(name for name, marks in labels.items() if marks[number - 1])
            used = bool(text and own)
            yield Row(
                where,
                prefix + image,
                (text,) if text else (),
                splits.get(image, "train") if used else LEFT_OUT,
                labels=own,
                id=int(id),
            )


def _splits(root: Path, tell: Tell) -> Mapping[str, str]:
    """The published parting into training and test images, where its lists are there."""
    path = root / "ImageList" / "TestImagelist.txt"
    return dict.fromkeys(_images(path, tell), "test") if path.is_file() else {}
