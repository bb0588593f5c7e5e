"""Photo corpora: ``captions.jsonl`` with ``file``, ``split`` and ``captions``, and ``images/``.

Narratives may lie beside them, as ``narratives*.jsonl``.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from deixis.data.lines import json_lines
from deixis.data.metadata import image_row
from deixis.data.narratives import NarrativeFile
from deixis.data.problems import Kind, Problem, Tell
from deixis.data.rows import Listing, Row
from deixis.errors import DataError


def is_photos(root: Path) -> bool:
    """Whether a folder holds captions and images under these names."""
    return (root / "captions.jsonl").is_file() and (root / "images").is_dir()


def list_photos(root: Path, tell: Tell) -> Listing:
    """List a photo corpus."""
    told = sorted(root.glob("narratives*.jsonl"))
    return Listing(
        root.resolve().name,
        root,
        _rows(root / "captions.jsonl", tell),
        narratives=tuple(NarrativeFile(path, tell) for path in told),
    )


def _rows(path: Path, tell: Tell) -> Iterator[Row]:
    for line, record in json_lines(path, tell):
        where = f"{path}:{line}"
        try:
            row = image_row(record, where, "file")
        except DataError as error:
            kind: Kind = "malformed" if "file" in record else "text without image"
            tell(Problem(kind, where, str(error)))
            continue
        yield replace(row, file=f"images/{row.file}")
