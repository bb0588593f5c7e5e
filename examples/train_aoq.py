"""A second round against negatives mined over the whole split: AOQ around VSE++.

Shows the loop with parts of your own: a trained model, mined batches, another objective.

python examples/train_aoq.py [IMAGES]
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import deixis
from deixis.data.batches.mined import MinedBatches, OfflineSpec
from deixis.data.batches.pairs import PairBatches
from deixis.data.simulated.scenes import write_scenes
from deixis.methods.aoq import AOQ
from deixis.methods.vsepp import VSEPP
from deixis.runs.hard_negatives.mining import mine, source_of


def main(images: int = 400) -> tuple[float, float]:
    """Train a first round, mine with it, go on with quintuplets; print both rounds."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        corpus = deixis.read_corpus(write_scenes(folder / "scenes", images=images)).captions()
        spec = deixis.TrainSpec(length="3 epochs", batch=32, lr=2e-3)
        matcher = deixis.train(corpus, VSEPP(dim=64, word_dim=32), spec, image="regions")
        data = deixis.prepare(corpus, image="regions")
        train, test = data.splits["train"], data.splits["test"]
        first = deixis.evaluate(matcher, test).measures["rsum"]

        source, kept = source_of(matcher.identity, train), OfflineSpec(texts=20, images=10)
        mined = mine(matcher.model, train, kept, source, folder / "mined", lambda done, of: None)
        second = AOQ(base={"name": "vsepp", "dim": 64, "word_dim": 32}).objective(data.sizes)
        batches = MinedBatches(PairBatches(train, 32, seed=1), mined)
        deixis.fit(matcher.model, second, batches, deixis.TrainSpec(length="2 epochs", lr=5e-4))
        again = deixis.evaluate(matcher, test).measures["rsum"]
    print(f"RSUM {first:.1f} after the first round, {again:.1f} after the second")
    return first, again


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
