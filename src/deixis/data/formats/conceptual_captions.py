"""Conceptual Captions: Google's lists ``*GCC*.tsv`` of captions and addresses, with pictures.

Nobody has all pictures: addresses die. The usual scripts leave the pictures of a list in the folder
``training`` or ``validation``, each named by the CRC-32 of its address, or write a table
``*GCC*_output.csv`` with the columns ``title`` and ``filepath``. Either is read.
"""

import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from deixis.data.formats.csv_tables import table_rows
from deixis.data.parsing.listing import ImageRow, Listing
from deixis.data.parsing.problems import CorpusProblem, ReportProblem
from deixis.data.parsing.text_lines import numbered_lines
from deixis.data.split_names import split_name
from deixis.errors import DataError

FOLDERS = {"train": "training", "val": "validation"}


def lists_in(path: Path) -> list[Path]:
    """The tables of a folder, else its bare lists; or the one list a path names."""
    if path.is_dir():
        return sorted(path.glob("*GCC*_output.csv")) or sorted(path.glob("*GCC*.tsv"))
    return [path] if path.is_file() and "GCC" in path.name and path.suffix == ".tsv" else []


def list_conceptual_captions(path: Path, report: ReportProblem) -> Listing:
    """List the captions whose pictures exist; the name of a list gives its split."""
    lists = lists_in(path)
    root = path if path.is_dir() else path.parent
    rows = (row for file in lists for row in _rows(file, report))
    return Listing(root.resolve().name, root, rows)


def _rows(path: Path, report: ReportProblem) -> Iterator[ImageRow]:
    split = "train" if "train" in path.name.lower() else split_name("validation")
    if path.suffix == ".csv":
        yield from (replace(row, split=split) for row in table_rows(path, report))
        return
    names = _names(path.parent / FOLDERS[split])
    found: dict[str, list[tuple[str, str]]] = {}
    for line, text in numbered_lines(path, report):
        caption, tab, url = text.partition("\t")
        where = f"{path}:{line}"
        if not tab:
            report(CorpusProblem("malformed", where, "no tab between a caption and an address"))
        elif name := names.get(str(zlib.crc32(url.strip().encode()))):
            found.setdefault(f"{FOLDERS[split]}/{name}", []).append((caption.strip(), where))
    if not found:
        raise DataError(
            f"{path}: none of its pictures is in {path.parent / FOLDERS[split]}, called by the "
            "CRC-32 of its address"
        )
    for file, captions in found.items():
        texts, wheres = zip(*captions, strict=True)
        yield ImageRow(wheres[0], file, texts, split, wheres)


def _names(folder: Path) -> dict[str, str]:
    """The pictures of a folder by their number; they may have a suffix or none."""
    files = folder.iterdir() if folder.is_dir() else ()
    return {file.name.partition(".")[0]: file.name for file in files}
