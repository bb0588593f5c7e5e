"""Labels tie images to texts: semantic sharing, evaluated by the labels a hit shares.

python examples/train_labels.py [IMAGES]
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import deixis
from deixis.data.simulated.scenes import write_scenes
from deixis.methods.semantic_sharing import SemanticSharing


def main(images: int = 400) -> float:
    """Train one transformer for both sides, and print its NDCG."""
    with TemporaryDirectory() as folder:
        corpus = deixis.read_corpus(write_scenes(Path(folder) / "scenes", images=images)).captions()
        method = SemanticSharing(dim=64, word_dim=32, heads=4, layers=1, inner=64)
        spec = deixis.TrainSpec(length="4 epochs", batch=32, lr=1e-3)
        matcher = deixis.train(corpus, method, spec, image="regions")
        test = deixis.prepare(corpus, image="regions").splits["test"]
        found = deixis.evaluate(matcher, test, protocol="labels").measures
    print(f"NDCG {found['ndcg']:.1f}, label F1 {found['image_f1']:.1f} of images")
    return found["ndcg"]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
