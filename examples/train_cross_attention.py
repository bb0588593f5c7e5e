"""SCAN compares every word with every region; here it re-ranks what VSE++ found.

python examples/train_cross_attention.py [IMAGES]
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import deixis
from deixis.data.simulated.scenes import write_scenes
from deixis.evaluation.probes.scoring_cost import Scoring
from deixis.evaluation.reranking.rerank_sweep import sweep
from deixis.methods.scan import SCAN
from deixis.methods.vsepp import VSEPP
from deixis.runs.embed_dataset import encode


def main(images: int = 400) -> list[float]:
    """Train both, and print what re-ranking a tenth of the gallery buys."""
    with TemporaryDirectory() as folder:
        corpus = deixis.read_corpus(write_scenes(Path(folder) / "scenes", images=images)).captions()
        spec = deixis.TrainSpec(length="4 epochs", batch=32, lr=1e-3)
        test = deixis.prepare(corpus, image="regions").splits["test"]
        scorings = []
        for method in (VSEPP(dim=64, word_dim=32), SCAN(dim=64, word_dim=32)):
            model = deixis.train(corpus, method, spec, image="regions").model
            scorings.append(Scoring(model.similarity, *encode(model, test)))
        lines = sweep(*scorings, [0.1], test.corpus)
    for line in lines:
        print(f"{line.label:18} RSUM {line.measures['rsum']:6.1f}  {line.whole:.2f} s")
    return [line.measures["rsum"] for line in lines]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
