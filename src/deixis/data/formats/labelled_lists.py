"""Labelled corpora as plain lists: one image per line, its labels by number, its tags or captions.

``images.txt`` names the files (a tab and the split may follow), ``labels.txt`` the numbers of each
image's labels, counted from 0 in ``label_names.txt``; ``tags.txt`` holds one text of tags per line,
``captions.txt`` any number of texts between tabs.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from deixis.data.parsing.listing import ImageRow, Listing
from deixis.data.parsing.problems import CorpusProblem, ReportProblem
from deixis.data.parsing.text_lines import numbered_lines
from deixis.data.shared_tag_texts import share_tag_texts
from deixis.data.split_names import split_name

IMAGES, LABELS, NAMES, TAGS, CAPTIONS = (
    f"{name}.txt" for name in ("images", "labels", "label_names", "tags", "captions")
)


def is_labelled(root: Path) -> bool:
    """Whether a folder lists images, labels and the labels' names."""
    return root.is_dir() and all((root / name).is_file() for name in (IMAGES, LABELS, NAMES))


def list_labelled(root: Path, report: ReportProblem) -> Listing:
    """List a labelled corpus; images with the same tags share their texts.

    Tags are few and texts of them repeat, so an image's text fits every image tagged alike.
    """
    names = tuple(line for _, line in numbered_lines(root / NAMES, report) if line)
    rows = _rows(root, names, report)
    tagged = (root / TAGS).is_file()
    return Listing(root.resolve().name, root, share_tag_texts(rows) if tagged else rows, names)


def _rows(root: Path, names: Sequence[str], report: ReportProblem) -> Iterator[ImageRow]:
    tagged = (root / TAGS).is_file()
    text_file = root / (TAGS if tagged else CAPTIONS)
    images, labels = _lines(root / IMAGES, report), _lines(root / LABELS, report)
    texts = _lines(text_file, report) if text_file.is_file() else [""] * len(images)
    columns = enumerate(zip_longest(images, labels, texts, fillvalue=""), start=1)
    for number, (image, numbers, text) in columns:
        if not image:
            for path, value in ((root / LABELS, numbers), (text_file, text)):
                if value:
                    what = f"{value[:40]!r} has no image on line {number} of {IMAGES}"
                    report(CorpusProblem("text without image", f"{path}:{number}", what))
            continue
        file, _, split = image.partition("\t")
        parts = tuple(part for part in ([text] if tagged else text.split("\t")) if part.strip())
        yield ImageRow(
            f"{root / IMAGES}:{number}",
            file,
            parts,
            split_name(split or "train"),
            (f"{text_file}:{number}",) * len(parts),
            labels=_named(numbers, names, f"{root / LABELS}:{number}", report),
        )


def _lines(path: Path, report: ReportProblem) -> list[str]:
    return [line for _, line in numbered_lines(path, report)]


def _named(
    numbers: str, names: Sequence[str], where: str, report: ReportProblem
) -> tuple[str, ...]:
    labels = []
    for word in numbers.split():
        if word.isdecimal() and int(word) < len(names):
            labels.append(names[int(word)])
        else:
            what = f"label {word} is not a number below {len(names)}"
            report(CorpusProblem("label out of range", where, what))
    return tuple(labels)
