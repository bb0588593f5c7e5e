"""Several vectors per item: DivE, and how much the vectors of one image differ.

python examples/train_sets.py [IMAGES]
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import deixis
from deixis.data.simulated.scenes import write_scenes
from deixis.methods.dive import DivE
from deixis.runs.embed_dataset import encode


def main(images: int = 400) -> tuple[int, ...]:
    """Train sets of four vectors, and print how far the vectors of one image lie apart."""
    with TemporaryDirectory() as folder:
        corpus = deixis.read_corpus(write_scenes(Path(folder) / "scenes", images=images)).captions()
        method = DivE(dim=64, word_dim=32, head_dim=32, parts=4, iterations=2)
        spec = deixis.TrainSpec(length="4 epochs", batch=32, batching="images", lr=1e-3)
        matcher = deixis.train(corpus, method, spec, image="regions")
        test = deixis.prepare(corpus, image="regions").splits["test"]
        pictures, _ = encode(matcher.model, test)
        cosines = pictures.vectors @ pictures.vectors.transpose(1, 2)
        print(f"RSUM {deixis.evaluate(matcher, test).measures['rsum']:.1f}")
        print(f"mean cosine between the vectors of an image: {cosines.mean():.2f}")
    return tuple(pictures.vectors.shape)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
