"""Your own images and sentences, in memory: train, evaluate, search. No files are needed.

python examples/own_corpus.py [IMAGES]
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

import deixis
from deixis.methods.vsepp import VSEPP

COLOURS = {"red": (220, 40, 40), "green": (40, 170, 60), "blue": (50, 80, 220)}
SIDES = {"left": 0, "right": 64}


def picture(colour: str, side: str, shade: int) -> np.ndarray:
    """A square of some colour on the left or on the right, as RGB pixels."""
    pixels = np.full((128, 128, 3), 200 + shade, dtype=np.uint8)
    pixels[32:96, SIDES[side] : SIDES[side] + 64] = COLOURS[colour]
    return pixels


def main(images: int = 48) -> str:
    """Train on squares, save the run, index the images, and find a red one on the left."""
    kinds = [(colour, side) for colour in COLOURS for side in SIDES]
    chosen = [kinds[number % len(kinds)] for number in range(images)]
    pictures = [picture(*kind, shade=number % 50) for number, kind in enumerate(chosen)]
    texts = [f"a {colour} square on the {side}" for colour, side in chosen]
    splits = ["train"] * (images - 12) + ["test"] * 12
    corpus = deixis.Corpus.from_pairs(pictures, texts, splits=splits)

    spec = deixis.TrainSpec(length="12 epochs", batch=12, lr=2e-3)
    matcher = deixis.train(corpus, VSEPP(dim=32, word_dim=16, negatives="every"), spec)
    with TemporaryDirectory() as name:
        folder = Path(name)
        matcher.save(folder / "run")
        (folder / "pictures").mkdir()
        for number, (colour, side) in enumerate(kinds):
            Image.fromarray(picture(colour, side, 7)).save(
                folder / "pictures" / f"{colour}-{side}-{number}.png"
            )
        with deixis.Library(folder / "library", folder / "run") as library:
            library.add(folder / "pictures")
            best = library.search("a red square on the left").hits[0].paths[0]
    print(Path(best).name)
    return Path(best).name


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
