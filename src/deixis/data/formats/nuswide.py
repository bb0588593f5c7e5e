"""NUS-WIDE as it unpacks: ``ImageList``, ``Groundtruth``, ``NUS_WID_Tags`` and pictures."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Bool
from numpy import ndarray

from deixis.data.formats.karpathy import existing
from deixis.data.parsing.listing import ImageRow, Listing
from deixis.data.parsing.problems import CorpusProblem, ReportProblem
from deixis.data.parsing.text_lines import numbered_lines
from deixis.data.shared_tag_texts import LEFT_OUT, share_tag_texts
from deixis.errors import DataError

CONCEPTS = 10  # the most frequent of the 81, which papers on label-wise retrieval use
LISTS = ("ImageList/Imagelist.txt", "ImageList/ImageList.txt")
TRUTH = "Groundtruth/AllLabels"
TAGS, KNOWN = "NUS_WID_Tags/All_Tags.txt", "NUS_WID_Tags/TagList1k.txt"


Marks = Mapping[str, Bool[ndarray, " image"]]  # of each label, which images have it


def is_nuswide(path: Path) -> bool:
    """Whether a folder has NUS-WIDE's list of images."""
    return any((path / name).is_file() for name in LISTS)


def list_nuswide(path: Path, report: ReportProblem) -> Listing:
    """List the ten most frequent concepts and the texts of 1,000 tags.

    Images without such a concept or tag are left out, as papers do.
    """
    for name in (TRUTH, TAGS, KNOWN):
        if not (path / name).exists():
            raise DataError(f"{path} has NUS-WIDE's list of images and no {name}")
    images = _images(path / existing(path, list(LISTS)), report)
    labels = _labels(path / TRUTH, len(images), report)
    rows = share_tag_texts(_rows(path, images, labels, report))
    return Listing(path.resolve().name, path, rows, tuple(labels))


def _images(path: Path, report: ReportProblem) -> list[str]:
    return [line.strip().replace("\\", "/") for _, line in numbered_lines(path, report)]


def _labels(folder: Path, images: int, report: ReportProblem) -> Marks:
    """Which images have each of the most frequent concepts; the files hold one 0 or 1 per line."""
    content = {path: path.read_bytes() for path in sorted(folder.glob("Labels_*.txt"))}
    often = sorted(content, key=lambda path: -content[path].count(b"1"))[:CONCEPTS]
    found = {}
    for path in sorted(often):
        marks = content[path].split()
        if len(marks) != images:
            what = f"{len(marks)} lines, of {images} images"
            report(CorpusProblem("malformed", f"{path}:{min(len(marks), images) + 1}", what))
            continue
        for line, mark in enumerate(marks, start=1):
            if mark not in (b"0", b"1"):
                what = f"found '{mark.decode(errors='replace')}', not 0 or 1"
                report(CorpusProblem("malformed", f"{path}:{line}", what))
        found[path.stem.removeprefix("Labels_")] = np.array(marks) == b"1"
    return found


def _rows(
    root: Path, images: Sequence[str], labels: Marks, report: ReportProblem
) -> Iterator[ImageRow]:
    known = (line.strip() for _, line in numbered_lines(root / KNOWN, report))
    order = {word: place for place, word in enumerate(known)}
    splits = _splits(root, report)
    place = existing(root, [f"{f}{images[0]}" for f in ("Flickr/", "images/", "")])
    prefix = place.removesuffix(images[0])
    with (root / TAGS).open("rb") as file:
        for number, image in enumerate(images, start=1):
            # Bytes that are not UTF-8 stand in tags outside the list alone, which are not read.
            id, *words = file.readline().decode("utf-8", "replace").split() or [""]
            where = f"{root / TAGS}:{number}"
            if not id.isdecimal() or id != Path(image).stem.rpartition("_")[2]:
                what = f"found the tags of image '{id}'; line {number} of the images is {image}"
                report(CorpusProblem("malformed", where, what))
                continue
            text = " ".join(sorted({w for w in words if w in order}, key=order.__getitem__))
            own = tuple(name for name, marks in labels.items() if marks[number - 1])
            used = bool(text and own)
            yield ImageRow(
                where,
                prefix + image,
                (text,) if text else (),
                splits.get(image, "train") if used else LEFT_OUT,
                labels=own,
                id=int(id),
            )


def _splits(root: Path, report: ReportProblem) -> Mapping[str, str]:
    """The published division into training and test images, where its lists exist."""
    path = root / "ImageList" / "TestImagelist.txt"
    return dict.fromkeys(_images(path, report), "test") if path.is_file() else {}
