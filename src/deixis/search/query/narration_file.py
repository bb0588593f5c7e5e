"""A query read from a file of Localized Narratives."""

from pathlib import Path

from deixis.errors import DataError
from deixis.features.trace.drawing import Drawing


def read_narration(file: Path) -> tuple[str, Drawing]:
    """The text and strokes of a file's first record; the strokes count in full."""
    from deixis.data.formats.narratives.localized_narratives import (  # most searches need none
        read_narratives,
    )

    first = next(iter(read_narratives(file)), None)
    if first is None:
        raise DataError(f"{file} holds no narrative to search by")
    found = first.narration
    return found.text, Drawing(found.strokes, found.words, weight=1.0)
