"""Say what, point where: text + trace on simulated narrations, and what the trace adds.

python examples/train_trace.py [IMAGES]
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import deixis
from deixis.data.simulated.scenes import write_scenes
from deixis.evaluation.probes.trace_controls import controlled
from deixis.methods.text_trace import TextTrace


def main(images: int = 400) -> dict[str, float]:
    """Train on narrations with their traces, then take the traces of the test queries away."""
    with TemporaryDirectory() as folder:
        corpus = deixis.read_corpus(write_scenes(Path(folder) / "scenes", images=images)).narrated()
        method = TextTrace(dim=64, word_dim=64, heads=4, query_depth=1, image_depth=1)
        spec = deixis.TrainSpec(length="6 epochs", batch=32, lr=2e-3)
        matcher = deixis.train(corpus, method, spec, image="regions")
        test = deixis.prepare(corpus, image="regions").splits["test"]
        asked = {"with": test, "without": controlled(test, matcher.vocabulary, "no trace")}
        found = {way: deixis.evaluate(matcher, data).measures for way, data in asked.items()}
    for way, measures in found.items():
        print(f"{way:8} traces: R@1 {measures['t2i_hit@1']:.1f}, R@10 {measures['t2i_hit@10']:.1f}")
    return {way: measures["t2i_hit@10"] for way, measures in found.items()}


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
