"""Labels and caption words from the metadata files that lie beside pictures."""

import os
from collections.abc import Iterator
from pathlib import Path

from deixis.data.metadata import NAMES, read_metadata
from deixis.data.problems import refuse
from deixis.errors import DataError
from deixis.features.words import split_words
from deixis.search.facts import Facts, NoteSource


def update_notes(facts: Facts, folders: set[str]) -> dict[str, str]:
    """Read the metadata files of some folders where they changed; unusable ones with the reason."""
    held = facts.sources()
    unusable = {}
    there = {source for folder in sorted(folders) for source in _sources(folder)}
    for source in sorted(there - held, key=lambda source: source.path):
        try:
            notes = list(_notes(Path(source.path)))
        except (DataError, OSError, ValueError) as error:
            unusable[source.path] = str(error).removeprefix(f"{source.path}:")
        else:
            facts.replace_notes(source, notes)
    present = {source.path for source in there}
    for source in held:
        if os.path.dirname(source.path) in folders and source.path not in present:
            facts.forget_notes(source.path)
    return unusable


def _sources(folder: str) -> Iterator[NoteSource]:
    for name in NAMES:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            now = os.stat(path)
            yield NoteSource(path, now.st_size, now.st_mtime_ns)


def _notes(path: Path) -> Iterator[tuple[str, str, str]]:
    for row in read_metadata(path, ".", refuse):
        file = os.path.normpath(path.parent / row.file)
        for label in row.labels:
            yield file, "label", label.casefold()
        for word in {word for text in row.texts for word in split_words(text)}:
            yield file, "word", word.casefold()
