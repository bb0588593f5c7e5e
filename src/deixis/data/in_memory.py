"""Images that are in memory: the parts of a corpus that has no files."""

import hashlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from os import PathLike, fspath

import numpy as np
from numpy import ndarray
from PIL import Image

from deixis.errors import DataError
from deixis.features.trace.narration import Narration
from deixis.shapes import Bool, Int

Picture = str | PathLike[str] | Image.Image | ndarray  # a file, a Pillow image, or RGB pixels
Said = str | Narration  # a text, or one with the trace drawn while it was said


def named_pictures(images: Sequence[Picture]) -> tuple[tuple[str, ...], dict[str, bytes]]:
    """A name for each image, and the content of those that are in no file.

    The name holds a hash of the content, so features that were extracted once are found again.
    """
    names, contents = [], {}
    for place, image in enumerate(images):
        if isinstance(image, str | PathLike):
            names.append(fspath(image))
            continue
        content = _png(image, place)
        name = f"memory/{place}-{hashlib.sha256(content).hexdigest()[:16]}.png"
        names.append(name)
        contents[name] = content
    return tuple(names), contents


def _png(image: Image.Image | ndarray, place: int) -> bytes:
    if isinstance(image, ndarray):
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise DataError(
                f"image {place} is an array of {image.dtype} with shape {image.shape}; "
                "give pixels as uint8 with shape (height, width, 3)"
            )
        image = Image.fromarray(image)
    content = BytesIO()
    image.save(content, "PNG")
    return content.getvalue()


def texts_and_owners(
    texts: Sequence[Said | Sequence[Said]],
) -> tuple[tuple[str, ...], Int[ndarray, " text"], dict[int, Narration]]:
    """All texts in order, the image each belongs to, and the narrations among them."""
    said: list[Said] = []
    owners: list[int] = []
    for image, of_image in enumerate(texts):
        some = [of_image] if isinstance(of_image, str | Narration) else list(of_image)
        if not some:
            raise DataError(f"image {image} has no text; give at least one")
        said += some
        owners += [image] * len(some)
    narrations = {place: one for place, one in enumerate(said) if isinstance(one, Narration)}
    plain = tuple(one.text if isinstance(one, Narration) else one for one in said)
    return plain, np.array(owners, dtype=np.int64), narrations


def split_names_of(splits: str | Sequence[str], images: int) -> tuple[str, ...]:
    """One split name per image; a single name is used for all."""
    return (splits,) * images if isinstance(splits, str) else tuple(splits)


def label_matrix(
    labels: Sequence[Sequence[str]] | None,
) -> tuple[Bool[ndarray, "image label"] | None, tuple[str, ...]]:
    """Which image has which label, and the labels' names in alphabetical order."""
    if labels is None:
        return None, ()
    names = tuple(sorted({name for some in labels for name in some}))
    place: Mapping[str, int] = {name: number for number, name in enumerate(names)}
    matrix = np.zeros((len(labels), len(names)), dtype=bool)
    for image, some in enumerate(labels):
        matrix[image, [place[name] for name in some]] = True
    return matrix, names
