"""Everything that is wrong with a corpus, found in one pass over its files."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from deixis.data.problems import Kind, Problem
from deixis.data.read import format_of
from deixis.data.rows import Listing, Row, vetted
from deixis.data.telling import tellings
from deixis.errors import DataError
from deixis.features.files import file_hash
from deixis.features.images import open_picture
from deixis.features.precomputed import not_finite_rows
from deixis.features.words import is_byte_literal

WORKERS = 2  # threads that decode
SIDE = 32  # pictures are decoded small: enough to meet every damaged byte

Progress = Callable[[int], None]  # images looked at so far


@dataclass
class Report:
    """What was looked at and what is wrong with it."""

    format: str
    images: int = 0
    texts: int = 0
    problems: list[Problem] = field(default_factory=list)


def check_corpus(path: Path, progress: Progress = lambda done: None) -> Report:
    """Name every problem of the corpus at a path; a clean corpus has none."""
    known = format_of(path)
    report = Report(known.name)
    try:
        listing = known.list(path, report.problems.append)
        _check(listing, report, progress)
    except DataError as error:  # what stops a reader ends the look at its rows
        where, _, what = str(error).partition(": ")
        kind: Kind = "not UTF-8" if "UTF-8" in what else "malformed"
        report.problems.append(Problem(kind, where, what))
    report.problems = list(dict.fromkeys(report.problems))
    return report


def _check(listing: Listing, report: Report, progress: Progress) -> None:
    files: list[str] = []
    first: dict[str, tuple[str, str]] = {}  # content → split and file of the first such picture
    with ThreadPoolExecutor(WORKERS) as pool:
        rows = vetted(listing, report.problems.append)
        looked = pool.map(lambda row: (row, _look(listing, row)), rows)
        for row, (content, problem) in looked:
            report.problems += _texts(row) if problem is None else [problem, *_texts(row)]
            if content:
                split, file = first.setdefault(content, (row.split, row.file))
                if split != row.split:
                    what = f"{row.file} in '{row.split}' is the same picture as {file} in '{split}'"
                    report.problems.append(Problem("duplicate image", row.where, what))
            files.append(row.file)
            report.texts += len(row.texts)
            progress(len(files))
    report.images = len(files)
    told, _, _ = tellings(listing.narratives, files, 0, report.problems.append)
    report.texts += len(told)
    for path in listing.arrays:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        for number in not_finite_rows(array):
            what = "NaN or infinity among the features"
            report.problems.append(Problem("not finite", f"{path}, row {number}", what))


def _look(listing: Listing, row: Row) -> tuple[str, Problem | None]:
    """The hash of a picture, and what is wrong with it."""
    if not listing.pictures:
        return "", None
    path = listing.root / row.file
    if not path.is_file():
        return "", Problem("missing image", row.where, f"there is no picture {path}")
    try:
        open_picture(path, SIDE)
    except DataError as error:
        return file_hash(path), Problem("unreadable image", row.where, str(error))
    return file_hash(path), None


def _texts(row: Row) -> Iterator[Problem]:
    for place, text in enumerate(row.texts):
        if not text.strip():
            yield Problem("empty text", row.where_of(place), f"the text of {row.file} is empty")
        elif is_byte_literal(text):
            what = f"{text[:60]!r} is a printed byte string; decode its source as UTF-8"
            yield Problem("byte-string text", row.where_of(place), what)
