"""What every format reader lists, image by image, and how that becomes a corpus."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from sys import intern

import numpy as np
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.data.formats.narratives.attach_narratives import narrated_texts
from deixis.data.formats.narratives.localized_narratives import NarrativeFile
from deixis.data.parsing.problems import CorpusProblem, ReportProblem, refuse
from deixis.shapes import Bool, Int


@dataclass(frozen=True, slots=True)
class ImageRow:
    """One image with everything its format records."""

    where: str  # file and line, for messages
    file: str  # relative to the corpus
    texts: tuple[str, ...] = ()
    split: str = "train"
    text_wheres: tuple[str, ...] = ()  # of each text, where a format has one line per text
    also: tuple[tuple[str, ...], ...] = ()  # of each text, other images it fits
    labels: tuple[str, ...] = ()
    twin: tuple[int, int] = (-1, -1)  # group and place in it; -1 outside groups
    id: int = -1  # in the image's source; -1 when it has none
    text_ids: tuple[int, ...] = ()

    def where_of(self, text: int) -> str:
        """File and line of a text."""
        return self.text_wheres[text] if self.text_wheres else f"{self.where}, text {text + 1}"


@dataclass(frozen=True)
class Listing:
    """A corpus as its format lists it; ``rows`` can be walked once."""

    name: str
    root: Path
    rows: Iterable[ImageRow]
    label_names: tuple[str, ...] | None = None  # None: those that occur
    narratives: tuple[NarrativeFile, ...] = ()
    arrays: tuple[Path, ...] = ()  # feature arrays that lie beside it
    pictures: bool = True  # whether the images are files, not only rows of an array


def valid_rows(listing: Listing, report: ReportProblem) -> Iterator[ImageRow]:
    """The rows that can be used; the others are reported."""
    listed: dict[str, str] = {}
    known = None if listing.label_names is None else set(listing.label_names)
    for row in listing.rows:
        file = posixpath.normpath(row.file)
        if file.startswith(("../", "/")) or file == "..":
            what = f"the path {row.file} leaves the corpus folder {listing.root}"
            report(CorpusProblem("path outside", row.where, what))
        elif file in listed:
            report(
                CorpusProblem(
                    "malformed", row.where, f"{file} was listed before, at {listed[file]}"
                )
            )
        else:
            listed[file] = row.where
            for label in row.labels:
                if known is not None and label not in known:
                    what = f"label '{label}' is not among the {len(known)} known ones"
                    report(CorpusProblem("label out of range", row.where, what))
            yield row


def build_corpus(listing: Listing) -> Corpus:
    """Make the corpus of a listing, refusing the first row that cannot be used."""
    columns = _Columns()
    for row in valid_rows(listing, refuse):
        columns.add(row)
    narrated, narrated_owners, narrations = narrated_texts(
        listing.narratives, columns.files, len(columns.texts)
    )
    owners = np.array([*columns.owners, *narrated_owners], dtype=np.int64)
    labels, label_names = _labels(columns, listing.label_names)
    twins = np.array(columns.twins, dtype=np.int64).reshape(-1, 2)
    image_ids = np.array(columns.ids, dtype=np.int64)
    text_ids = np.array([*columns.text_ids, *[-1] * len(narrated)], dtype=np.int64)
    return Corpus(
        name=listing.name,
        root=listing.root,
        files=tuple(columns.files),
        texts=(*columns.texts, *narrated),
        owners=owners,
        pairs=columns.pairs(owners),
        splits=tuple(columns.splits),
        labels=labels,
        label_names=label_names,
        narrations=narrations,
        twins=twins if (twins >= 0).any() else None,
        image_ids=image_ids if (image_ids >= 0).any() else None,
        text_ids=text_ids if (text_ids >= 0).any() else None,
    )


class _Columns:
    """Rows turned into columns."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.splits: list[str] = []
        self.texts: list[str] = []
        self.owners: list[int] = []
        self.labels: dict[int, tuple[str, ...]] = {}
        self.twins: list[tuple[int, int]] = []
        self.ids: list[int] = []
        self.text_ids: list[int] = []
        self._also: list[tuple[int, str, str]] = []  # text, file, where

    def add(self, row: ImageRow) -> None:
        image, first = len(self.files), len(self.texts)
        self.files.append(posixpath.normpath(row.file))
        self.splits.append(intern(row.split))
        self.texts.extend(row.texts)
        self.owners.extend([image] * len(row.texts))
        self.twins.append(row.twin)
        self.ids.append(row.id)
        self.text_ids.extend(row.text_ids or [-1] * len(row.texts))
        if row.labels:
            self.labels[image] = row.labels
        for place, others in enumerate(row.also):
            self._also += [(first + place, file, row.where) for file in others]

    def pairs(self, owners: Int[ndarray, " text"]) -> Int[ndarray, "pair 2"]:
        """Every text with its owner, and with the other images its row says it fits."""
        own = np.stack([owners, np.arange(len(owners))], axis=1)
        places = {file: i for i, file in enumerate(self.files)} if self._also else {}
        for _, file, where in self._also:
            if file not in places:
                refuse(
                    CorpusProblem("malformed", where, f"'also' names {file}, which is not listed")
                )
        more = [(places[file], text) for text, file, _ in self._also]
        return np.concatenate([own, np.array(more, dtype=np.int64).reshape(-1, 2)])


def _labels(
    columns: _Columns, known: Sequence[str] | None
) -> tuple[Bool[ndarray, "image label"] | None, tuple[str, ...]]:
    if not columns.labels:
        return None, ()
    used = {label for row in columns.labels.values() for label in row}
    names = tuple(sorted(used)) if known is None else tuple(known)
    place = {label: column for column, label in enumerate(names)}
    labels = np.zeros((len(columns.files), len(names)), dtype=bool)
    for image, row in columns.labels.items():
        labels[image, [place[label] for label in row]] = True
    return labels, names
