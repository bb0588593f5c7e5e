"""Texts made of tags: a few words from a short list, so that several images have the same."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from deixis.data.parsing.listing import ImageRow

LEFT_OUT = "left out"  # split of images that papers on tagged corpora do not use
TEST = "test"


def share_tag_texts(rows: Iterable[ImageRow]) -> Iterator[ImageRow]:
    """The same rows, each text fitting every image of its split that is tagged alike.

    Where models are tested such texts are one, of the first image: a gallery with copies would
    rank them as several finds. *Paper*: the published code of semantic sharing merges them so.
    """
    rows = list(rows)
    alike: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for text in row.texts:
            alike.setdefault((row.split, text), []).append(row.file)
    for row in rows:
        fitting = [alike[row.split, text] for text in row.texts]
        kept = [n for n, of in enumerate(fitting) if row.split != TEST or of[0] == row.file]
        yield replace(
            row,
            texts=tuple(row.texts[n] for n in kept),
            text_wheres=tuple(row.text_wheres[n] for n in kept if row.text_wheres),
            also=tuple(tuple(file for file in fitting[n] if file != row.file) for n in kept),
        )
