"""Texts made of tags: a few words from a short list, so that several images have the same."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from deixis.data.rows import Row

LEFT_OUT = "left out"  # split of images that papers on tagged corpora do not use


def sharing_texts(rows: Iterable[Row]) -> Iterator[Row]:
    """The same rows, each text fitting every image of its split that is tagged alike."""
    rows = list(rows)
    alike: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for text in row.texts:
            alike.setdefault((row.split, text), []).append(row.file)
    for row in rows:
        own = row.file
        yield replace(
            row,
            also=tuple(
                tuple(file for file in alike[row.split, text] if file != own) for text in row.texts
            ),
        )
