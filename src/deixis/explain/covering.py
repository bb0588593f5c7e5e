"""A picture with one place after the other covered: for models that look at it as a whole.

Asks nothing of a model but to encode pictures, so the encoder that filled a library explains it.
"""

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from deixis.errors import SearchError
from deixis.explain.views import Views
from deixis.features.boxes import grid_boxes
from deixis.features.images import open_picture
from deixis.search.encoder import Encoder

CELLS = 5  # a side; every place costs an encoding
SIDE = 288  # pixels a copy keeps at least: what the packaged backbones read


def covered(encoder: Encoder, picture: Path) -> Views:
    """Encode a picture as it is, as a copy, and as copies with one place in its mean colour."""
    copy = open_picture(picture, SIDE)
    copy.thumbnail((2 * SIDE, 2 * SIDE))
    mean = tuple(int(value) for value in np.asarray(copy).reshape(-1, 3).mean(axis=0))
    boxes = grid_boxes(CELLS)
    with tempfile.TemporaryDirectory(prefix="deixis-") as name:
        files = [picture]
        for place, box in enumerate([None, *boxes]):
            files.append(Path(name) / f"{place}.bmp")  # written and read fast
            _with_cover(copy, box, mean).save(files[-1])
        encoded = encoder.encode_image(files)
    if encoded.broken:
        raise SearchError(f"the picture cannot be explained: {next(iter(encoded.broken.values()))}")
    return Views("covering", encoded.parts, boxes, np.zeros((0, len(boxes))), copied=True)


def _with_cover(
    picture: Image.Image, box: np.ndarray | None, colour: tuple[int, ...]
) -> Image.Image:
    if box is None:
        return picture
    xmin, xmax, ymin, ymax = box[:4]
    width, height = picture.size
    out = picture.copy()
    left, right = (round(float(x) * width) for x in (xmin, xmax))
    top, bottom = (round(float(y) * height) for y in (ymin, ymax))
    out.paste(colour, (left, top, right, bottom))
    return out
