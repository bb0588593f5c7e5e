"""One vector per image and per text: VSE++ on simulated scenes, without a recipe.

python examples/train_vse.py [IMAGES]
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import deixis
from deixis.data.simulated.scenes import write_scenes
from deixis.methods.vsepp import VSEPP


def main(images: int = 400) -> deixis.Matcher:
    """Train, evaluate on the test split, and score two sentences with two images."""
    with TemporaryDirectory() as folder:
        corpus = deixis.read_corpus(write_scenes(Path(folder) / "scenes", images=images)).captions()
        spec = deixis.TrainSpec(length="4 epochs", batch=32, lr=2e-3)
        matcher = deixis.train(corpus, VSEPP(dim=64, word_dim=32), spec, image="regions")
        test = deixis.prepare(corpus, image="regions").splits["test"]
        print(f"RSUM {deixis.evaluate(matcher, test).measures['rsum']:.1f}")
    return matcher


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
