"""A folder of small real pictures, one of them damaged."""

import numpy as np
from PIL import Image


def make_pictures(folder, count):
    """Noise in a colour of its own per picture."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    for number in range(count):
        colour = random.integers(0, 256, 3)
        noise = random.integers(0, 40, (48, 64, 3))
        pixels = np.clip(colour + noise, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:03}.png")
    (folder / "damaged.jpg").write_bytes(b"\xff\xd8 no picture")
    return folder
