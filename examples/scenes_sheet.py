"""A contact sheet of scenes: four twins with their narrations drawn over them, four other scenes.

python examples/scenes_sheet.py sheet.png
"""

import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from deixis.data.corpus import Corpus
from deixis.data.read_corpus import read_corpus
from deixis.data.simulated.scenes import write_scenes
from deixis.data.simulated.scenes.objects import NOUNS
from deixis.features.trace.narration import Narration

SIDE, STRIP = 256, 84
INKS = ("#ff2d95", "#00c2ff", "#ffb000")  # first, second and third thing that is named


def draw_trace(picture: Image.Image, narration: Narration) -> None:
    """Draw the pointer's path, each stretch in the colour of the thing named in it."""
    pen = ImageDraw.Draw(picture)
    named = [word for word in narration.words if word.text.strip(",.") in NOUNS]
    starts = [0.0, *(word.end + 0.3 for word in named[:-1]), float("inf")]
    for stroke in narration.strokes:
        for a, b in zip(stroke, stroke[1:], strict=False):
            stretch = int(np.searchsorted(starts, a.t, side="right")) - 1
            line = (a.x * SIDE, a.y * SIDE, b.x * SIDE, b.y * SIDE)
            pen.line(line, "white", 4)
            pen.line(line, INKS[stretch], 2)


def draw_cell(corpus: Corpus, image: int, *, narrated: bool) -> Image.Image:
    """One image over one of its texts."""
    cell = Image.new("RGB", (SIDE, SIDE + STRIP), "white")
    with Image.open(corpus.path(image)) as picture:
        shown = picture.convert("RGB")
    texts = np.flatnonzero(corpus.owners == image).tolist()
    lines = [corpus.texts[text] for text in texts if text not in corpus.narrations][:2]
    if narrated:
        narration = corpus.narrations[next(text for text in texts if text in corpus.narrations)]
        draw_trace(shown, narration)
        lines = [narration.text]
    cell.paste(shown, (0, 0))
    wrapped = "\n".join("\n".join(textwrap.wrap(line, 40)) for line in lines)
    ImageDraw.Draw(cell).text((4, SIDE + 4), wrapped, "black", ImageFont.load_default(13))
    return cell


def draw_sheet(corpus: Corpus) -> Image.Image:
    """Twins above, other scenes below."""
    assert corpus.twins is not None
    twins = np.flatnonzero(corpus.twins[:, 0] == corpus.twins[:, 0].max())
    twins = twins[np.argsort(corpus.twins[twins, 1])]
    others = np.flatnonzero(corpus.twins[:, 0] < 0)[:4]
    sheet = Image.new("RGB", (4 * (SIDE + 8), 2 * (SIDE + STRIP)), "white")
    for row, images in enumerate((twins, others)):
        for column, image in enumerate(images.tolist()):
            cell = draw_cell(corpus, image, narrated=row == 0)
            sheet.paste(cell, (4 + column * (SIDE + 8), row * (SIDE + STRIP)))
    return sheet


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpus = read_corpus(write_scenes(Path(folder) / "scenes", images=60, seed=7))
        sheet = draw_sheet(corpus)
    # Flat colours: a palette keeps the file small and looks the same.
    sheet.quantize(255, dither=Image.Dither.FLOYDSTEINBERG).save(sys.argv[1], optimize=True)


if __name__ == "__main__":
    main()
