"""MIRFLICKR-25K as it unpacks: ``im1.jpg`` …, ``meta/tags/tags1.txt`` …, a file per label.

The annotations are a second archive, whose folder may lie in that of the pictures or beside it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from deixis.data.parsing.listing import ImageRow, Listing
from deixis.data.parsing.problems import CorpusProblem, ReportProblem
from deixis.data.parsing.text_lines import numbered_lines
from deixis.data.shared_tag_texts import LEFT_OUT, share_tag_texts
from deixis.errors import DataError

COMMON = 20  # images a tag must stand on to be read, which makes the 1,386 that papers read
TESTED = 10  # every n-th image is a test image: the corpus has no split of its own
_NUMBER = re.compile(r"tags(\d+)\.txt")


def is_mirflickr(path: Path) -> bool:
    """Whether a folder, or one below it, has a file of tags per picture."""
    return _pictures(path) is not None


def list_mirflickr(path: Path, report: ReportProblem) -> Listing:
    """List the corpus with its 24 potential labels; images without a common tag are left out."""
    pictures = _pictures(path)
    assert pictures is not None
    annotations = _annotations(path, pictures)
    labels = _labels(annotations, report)
    names = tuple(sorted(p.stem for p in _label_files(annotations)))
    rows = share_tag_texts(_rows(path, pictures, labels, report))
    return Listing(path.resolve().name, path, rows, names)


def _pictures(path: Path) -> Path | None:
    options = (path, path / "mirflickr", path / "mirflickr25k")
    return next((folder for folder in options if (folder / "meta" / "tags").is_dir()), None)


def _annotations(path: Path, pictures: Path) -> Path:
    beside = path.resolve().parent.glob("mirflickr*annotations*")
    for folder in (*path.glob("*annotations*"), *pictures.glob("*annotations*"), *beside):
        if folder.is_dir() and _label_files(folder):
            return folder
    raise DataError(
        f"{path} has MIRFLICKR's tags and no annotations; unpack the second archive beside them, "
        "so that its folder is called mirflickr25k_annotations_v080"
    )


def _label_files(folder: Path) -> list[Path]:
    """The files of potential labels; those ending in _r1 say which of them are well visible."""
    files = folder.glob("*.txt")
    return [f for f in files if f.stem.lower() != "readme" and not f.stem.endswith("_r1")]


def _labels(folder: Path, report: ReportProblem) -> Mapping[int, list[str]]:
    """The labels of each image, by its number."""
    found: dict[int, list[str]] = {}
    for path in sorted(_label_files(folder)):
        for line, word in numbered_lines(path, report):
            if word.strip().isdecimal():
                found.setdefault(int(word), []).append(path.stem)
            elif word.strip():
                what = f"found '{word[:40]}', not the number of an image"
                report(CorpusProblem("malformed", f"{path}:{line}", what))
    return found


def _rows(
    root: Path, pictures: Path, labels: Mapping[int, list[str]], report: ReportProblem
) -> Iterator[ImageRow]:
    tags = {}
    for file in (pictures / "meta" / "tags").iterdir():
        if name := _NUMBER.fullmatch(file.name):
            lines = (line.strip() for _, line in numbered_lines(file, report))
            tags[int(name[1])] = (file, list(dict.fromkeys(line for line in lines if line)))
    spread = Counter(word for _, words in tags.values() for word in words)
    common = sorted((-count, word) for word, count in spread.items() if count >= COMMON)
    order = {word: place for place, (_, word) in enumerate(common)}
    for number, (file, words) in sorted(tags.items()):
        text = " ".join(sorted((word for word in words if word in order), key=order.__getitem__))
        split = "train" if number % TESTED else "test"
        yield ImageRow(
            str(file),
            (pictures / f"im{number}.jpg").relative_to(root).as_posix(),
            (text,) if text else (),
            split if text else LEFT_OUT,
            (f"{file}:1",) if text else (),
            labels=tuple(labels.get(number, ())),
            id=number,
        )
