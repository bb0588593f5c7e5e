"""Photographs that may be shown to anyone, as a folder to index: those of two packages.

`pip install --no-deps scikit-image scikit-learn` brings them; nothing of the packages is imported
and nothing else here needs them. Who took each, and its licence: docs/LICENSE.md.
"""

import importlib.util
import sys
from pathlib import Path

from PIL import Image, ImageOps

SOURCES = {
    "astronaut": ("skimage", "data/astronaut.png"),
    "cat": ("skimage", "data/chelsea.png"),
    "coffee": ("skimage", "data/coffee.png"),
    "coins": ("skimage", "data/coins.png"),
    "flower": ("sklearn", "datasets/images/flower.jpg"),
    "galaxies": ("skimage", "data/hubble_deep_field.jpg"),
    "man": ("skimage", "data/camera.png"),
    "pagoda": ("sklearn", "datasets/images/china.jpg"),
    "rocket": ("skimage", "data/rocket.jpg"),
}
KEPT = 0.7  # of the width of a photograph that is cut so that its middle comes to lie at a side


def write_gallery(folder: Path) -> None:
    """Nine photographs, and of each a mirrored copy and two cuts: enough files to be ranked."""
    folder.mkdir(parents=True)
    for name, (package, path) in SOURCES.items():
        photograph = Image.open(_package(package) / path).convert("RGB")
        width, height = photograph.size
        kept = round(KEPT * width)
        pictures = {
            name: photograph,
            f"{name}, mirrored": ImageOps.mirror(photograph),
            f"{name}, left": photograph.crop((width - kept, 0, width, height)),
            f"{name}, right": photograph.crop((0, 0, kept, height)),
        }
        for title, picture in pictures.items():
            picture.save(folder / f"{title}.jpg", quality=92)


def _package(name: str) -> Path:
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        sys.exit(
            f"the photographs of the documentation are in the package {name}, which is not here: "
            "`make screenshots` brings it, or pip install --no-deps scikit-image scikit-learn"
        )
    return Path(found.submodule_search_locations[0])
