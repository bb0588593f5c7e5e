"""Everything that is wrong with a corpus, found in one pass over its files."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from deixis.data.formats.narratives.attach_narratives import narrated_texts
from deixis.data.parsing.listing import ImageRow, Listing, valid_rows
from deixis.data.parsing.problems import CorpusProblem, ProblemKind
from deixis.data.read_corpus import format_of
from deixis.errors import DataError
from deixis.features.backbones.precomputed import not_finite_rows
from deixis.features.store.image_files import open_picture
from deixis.features.store.npy_files import map_npy
from deixis.features.words.vocabulary import is_byte_literal
from deixis.files import file_hash

WORKERS = 2  # threads that decode
SIDE = 32  # pictures are decoded small: enough to meet every damaged byte

Progress = Callable[[int], None]  # images looked at so far


@dataclass
class CorpusCheck:
    """What was checked and what is wrong with it."""

    format: str
    images: int = 0
    texts: int = 0
    problems: list[CorpusProblem] = field(default_factory=list)

    @property
    def needs_attention(self) -> bool:
        """Whether there is a problem."""
        return bool(self.problems)


def check_corpus(path: Path, progress: Progress = lambda done: None) -> CorpusCheck:
    """Name every problem of the corpus at a path; a clean corpus has none."""
    known = format_of(path)
    report = CorpusCheck(known.name)
    try:
        listing = known.list(path, report.problems.append)
        _check(listing, report, progress)
    except DataError as error:  # what stops a reader ends the check of its rows
        where, _, what = str(error).partition(": ")
        kind: ProblemKind = "not UTF-8" if "UTF-8" in what else "malformed"
        report.problems.append(CorpusProblem(kind, where, what))
    report.problems = list(dict.fromkeys(report.problems))
    return report


def _check(listing: Listing, report: CorpusCheck, progress: Progress) -> None:
    files: list[str] = []
    first: dict[str, tuple[str, str]] = {}  # content → split and file of the first such picture
    with ThreadPoolExecutor(WORKERS) as pool:
        rows = valid_rows(listing, report.problems.append)
        looked = pool.map(lambda row: (row, _look(listing, row)), rows)
        for row, (content, problem) in looked:
            report.problems += _texts(row) if problem is None else [problem, *_texts(row)]
            if content:
                split, file = first.setdefault(content, (row.split, row.file))
                if split != row.split:
                    what = f"{row.file} in '{row.split}' is the same picture as {file} in '{split}'"
                    report.problems.append(CorpusProblem("duplicate image", row.where, what))
            files.append(row.file)
            report.texts += len(row.texts)
            progress(len(files))
    report.images = len(files)
    texts, _, _ = narrated_texts(listing.narratives, files, 0, report.problems.append)
    report.texts += len(texts)
    for path in listing.arrays:
        try:
            array = map_npy(path)
        except DataError as error:
            report.problems.append(CorpusProblem("malformed", str(path), str(error)))
            continue
        for number in not_finite_rows(array):
            what = "NaN or infinity among the features"
            report.problems.append(CorpusProblem("not finite", f"{path}, row {number}", what))


def _look(listing: Listing, row: ImageRow) -> tuple[str, CorpusProblem | None]:
    """The hash of a picture, and what is wrong with it."""
    if not listing.pictures:
        return "", None
    path = listing.root / row.file
    if not os.path.isfile(path):  # which asks no more of a name that is too long than "is it there"
        return "", CorpusProblem("missing image", row.where, f"there is no picture {path}")
    try:
        open_picture(path, SIDE)
    except DataError as error:
        return file_hash(path), CorpusProblem("unreadable image", row.where, str(error))
    return file_hash(path), None


def _texts(row: ImageRow) -> Iterator[CorpusProblem]:
    for place, text in enumerate(row.texts):
        if not text.strip():
            yield CorpusProblem(
                "empty text", row.where_of(place), f"the text of {row.file} is empty"
            )
        elif is_byte_literal(text):
            what = f"{text[:60]!r} is a printed byte string; decode its source as UTF-8"
            yield CorpusProblem("byte-string text", row.where_of(place), what)
