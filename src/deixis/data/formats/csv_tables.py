"""CSV and TSV: a line per text or per image; columns are recognised by their names."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from deixis.data.parsing.listing import ImageRow, Listing
from deixis.data.parsing.picture_folder import picture_folder
from deixis.data.parsing.problems import CorpusProblem, ReportProblem, refuse
from deixis.data.parsing.text_lines import numbered_lines
from deixis.data.split_names import split_name

FILES = ("filepath", "file_name", "filename", "image_name", "image", "path", "file")
TEXTS = ("title", "caption", "text", "comment", "captions", "tags")
SPLITS, LABELS = ("split",), ("label", "labels")
SUFFIXES = (".csv", ".tsv", ".txt")


def is_table(path: Path) -> bool:
    """Whether a file is a table whose first line names images and texts."""
    if not path.is_file() or path.suffix.lower() not in SUFFIXES:
        return False
    header = _header(path)[1]
    return bool(_column(header, FILES) and _column(header, TEXTS))


def list_table(path: Path, report: ReportProblem) -> Listing:
    """List a table; lines of the same image follow one another or not."""
    return Listing(path.stem, path.parent, table_rows(path, report))


def table_rows(path: Path, report: ReportProblem) -> Iterator[ImageRow]:
    """Every image of a table, with the texts of all its lines."""
    header = _header(path)[1]
    columns = [_column(header, names) for names in (FILES, TEXTS, SPLITS, LABELS)]
    found: dict[str, list[tuple[str, int, str, str]]] = {}
    for line, record in table_records(path, report):
        file, text, split, labels = (record.get(name, "") if name else "" for name in columns)
        if not file:
            what = f"no image in column '{columns[0]}' for the text {text[:40]!r}"
            report(CorpusProblem("text without image", f"{path}:{line}", what))
            continue
        found.setdefault(file, []).append((text, line, split, labels))
    folder = picture_folder(path.parent, found)
    for file, lines in found.items():
        texts, numbers, splits, labelled = zip(*lines, strict=True)
        named = dict.fromkeys(name for cell in labelled for name in cell.split())
        yield ImageRow(
            f"{path}:{numbers[0]}",
            folder + file,
            texts,
            split_name(splits[0] or "train"),
            tuple(f"{path}:{number}" for number in numbers),
            labels=tuple(named),
        )


def table_records(path: Path, report: ReportProblem) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Every record of a table under the names of its first line, with its line's number."""
    delimiter, header = _header(path)
    number = 1

    def counted() -> Iterator[str]:
        nonlocal number
        for number, line in numbered_lines(path, report):
            if number > 1:
                yield line + "\n"

    # strict: a quote left open would otherwise silently swallow the lines after it
    reader = csv.reader(counted(), delimiter=delimiter, strict=True, skipinitialspace=True)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            report(
                CorpusProblem("malformed", f"{path}:{number}", f"not a row of the table ({error})")
            )
            continue
        if cells:
            yield number, {name: cell for name, cell in zip(header, cells, strict=False) if name}


def _header(path: Path) -> tuple[str, list[str]]:
    """The delimiter under which the first line has a column of images, and its names."""
    lines = numbered_lines(path, refuse)
    first = next(lines, (1, ""))[1]
    lines.close()
    for delimiter in ",\t;|":
        names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
        if _column(names, FILES):
            return delimiter, names
    return ",", first.split(",")


def _column(header: Sequence[str], names: Sequence[str]) -> str | None:
    """The column of a header that bears one of some names, the first name first."""
    lower = {name.lower(): name for name in header}
    return next((lower[name] for name in names if name in lower), None)
