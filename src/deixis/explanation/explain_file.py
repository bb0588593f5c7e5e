"""Explain a picture file, and show the explanation."""

from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from deixis.errors import DataError
from deixis.explanation.attribution import Explanation, explain
from deixis.explanation.explanation_picture import explanation_picture
from deixis.features.places.phrase_map import peaks
from deixis.features.store.image_files import open_picture
from deixis.files import replacing
from deixis.search.query.query import Query

SIDE = 480  # pixels of the drawn picture's longer side


def explain_file(
    model: str, picture: Path, query: Query | str, drawing: Path | None = None
) -> Explanation:
    """Explain why a query fits a picture; where a file is named, draw the explanation into it."""
    kind = None if drawing is None else _format(drawing)
    query = Query(text=query) if isinstance(query, str) else query
    found = explain(model, query, picture)
    if drawing is not None:
        shown = open_picture(picture, SIDE)
        shown.thumbnail((SIDE, SIDE))
        with replacing(drawing) as temporary:
            explanation_picture(found, query.text or "", shown).save(temporary, kind)
    return found


def _format(path: Path) -> str:
    """The format a picture's name asks for; its temporary name would not say it."""
    kind = Image.registered_extensions().get(path.suffix.lower())
    if kind not in Image.SAVE:
        raise DataError(
            f"'{path}' is not the name of a picture file; call it {path.with_suffix('.png')}"
        )
    return kind


def stroke_lines(found: Explanation, query: Query) -> Iterator[str]:
    """What pointing at each place adds, line by line."""
    said = {link.stroke: (query.text or "")[link.start : link.end] for link in query.drawing.links}
    for stroke, share in enumerate(found.strokes.tolist()):
        yield f"  {share:+.3f}  pointing at {said.get(stroke, 'something')}"


def place_lines(found: Explanation, text: str) -> Iterator[str]:
    """The lines that describe an explanation's places."""
    if found.maps:
        yield "where each phrase is, if it is there"
        for one in found.maps:
            x, y = peaks(one.cells)
            said = "something" if one.span is None else text[slice(*one.span)]
            yield f"  x {x:.2f}, y {y:.2f}  {said}"
        if found.game is not None:
            right = f"{found.game:.1f} %"
            yield f"on test photographs {right} of such places lie in the box that people drew"
    elif len(found.places):
        yield "places that add most"
        for place in found.places.argsort()[::-1][:3]:
            xmin, xmax, ymin, ymax = found.boxes[place, :4]
            share = f"{found.places[place]:+.3f}"
            yield f"  {share}  x {xmin:.2f} to {xmax:.2f}, y {ymin:.2f} to {ymax:.2f}"
    else:
        yield "this model sees a picture as a whole and says nothing of places"
