"""Images and texts of a corpus as cards on a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from deixis.data.corpus import Corpus
from deixis.features.store.picture_formats import formats
from deixis.features.trace.cleaning import Stroke
from deixis.features.trace.trace_overlay import blank_canvas, with_trace

THUMBNAIL = 320  # pixels of the longer side


@dataclass(frozen=True)
class Card:
    """An image or a text; the page marks those that answer the query."""

    label: str  # the text, or the name of the image's file
    is_image: bool
    right: bool = False
    picture: Image.Image | None = None  # None where the corpus has only features


def text_card(corpus: Corpus, text: int, *, right: bool = False) -> Card:
    """A text of the corpus."""
    return Card(corpus.texts[text], is_image=False, right=right)


def image_card(
    corpus: Corpus, image: int, *, right: bool = False, strokes: Sequence[Stroke] = ()
) -> Card:
    """An image of the corpus, with a query's trace over it if there was one."""
    name, path = corpus.files[image], corpus.path(image)
    if not path.is_file():
        return Card(name, is_image=True, right=right)
    with Image.open(path, formats=formats()) as opened:
        small = opened.convert("RGB")
    small.thumbnail((THUMBNAIL, THUMBNAIL))
    return Card(name, is_image=True, right=right, picture=with_trace(small, strokes))


def trace_card(strokes: Sequence[Stroke]) -> Card:
    """A trace on an empty canvas."""
    return Card("the trace as drawn", True, picture=with_trace(blank_canvas(THUMBNAIL), strokes))
