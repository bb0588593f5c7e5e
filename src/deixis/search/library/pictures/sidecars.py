"""Labels and caption words from the metadata files that lie beside pictures."""

import os
from collections.abc import Iterator
from pathlib import Path

from deixis.data.formats.imagefolder_metadata import NAMES, read_metadata
from deixis.data.parsing.problems import refuse
from deixis.features.words.vocabulary import split_words
from deixis.search.library.metadata_store import MetadataStore, NoteSource
from deixis.search.library.pictures.encode_files import reason_for

LONGEST_CAPTION = 100  # characters; a longer one is no example of a query


def update_notes(facts: MetadataStore, folders: set[str]) -> dict[str, str]:
    """Read the metadata files of some folders where they changed; unusable ones with the reason."""
    held = facts.sources()
    unusable = {}
    there = {source for folder in sorted(folders) for source in _sources(folder)}
    for source in sorted(there - held, key=lambda source: source.path):
        try:
            notes = list(notes_of(Path(source.path), os.path.dirname(source.path)))
            for note in notes:
                "".join(note).encode()  # half a character (a lone surrogate) cannot be stored
        except Exception as error:  # whatever is wrong with one file is no reason to stop
            unusable[source.path] = reason_for(error).removeprefix(f"{source.path}:")
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


def notes_of(path: Path, folder: str) -> Iterator[tuple[str, str, str]]:
    """Picture, kind and value of each note in a metadata file about the pictures of a folder."""
    for row in read_metadata(path, ".", refuse):
        file = os.path.normpath(os.path.join(folder, row.file))
        for label in row.labels:
            yield file, "label", label.casefold()
        for caption in row.texts[:1]:  # one is enough to show what might be asked
            if len(caption) <= LONGEST_CAPTION:
                yield file, "caption", caption
        for word in {word for text in row.texts for word in split_words(text)}:
            yield file, "word", word.casefold()
