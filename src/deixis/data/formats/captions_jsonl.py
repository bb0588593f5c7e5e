"""Photo corpora: ``captions.jsonl`` with ``file``, ``split`` and ``captions``, and ``images/``.

Narratives may lie beside them, as ``narratives*.jsonl``.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from deixis.data.formats.imagefolder_metadata import image_row
from deixis.data.formats.narratives.localized_narratives import NarrativeFile
from deixis.data.parsing.listing import ImageRow, Listing
from deixis.data.parsing.problems import CorpusProblem, ProblemKind, ReportProblem
from deixis.data.parsing.text_lines import json_lines
from deixis.errors import DataError


def is_captions_jsonl(root: Path) -> bool:
    """Whether a folder holds captions and images under these names."""
    return (root / "captions.jsonl").is_file() and (root / "images").is_dir()


def list_captions_jsonl(root: Path, report: ReportProblem) -> Listing:
    """List a photo corpus."""
    files = sorted(root.glob("narratives*.jsonl"))
    return Listing(
        root.resolve().name,
        root,
        _rows(root / "captions.jsonl", report),
        narratives=tuple(NarrativeFile(path, report) for path in files),
    )


def _rows(path: Path, report: ReportProblem) -> Iterator[ImageRow]:
    for line, record in json_lines(path, report):
        where = f"{path}:{line}"
        try:
            row = image_row(record, where, "file")
        except DataError as error:
            kind: ProblemKind = "malformed" if "file" in record else "text without image"
            report(CorpusProblem(kind, where, str(error)))
            continue
        yield replace(row, file=f"images/{row.file}")
