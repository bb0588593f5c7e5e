"""A sweep runs from the fast model's ranking to the slow model's, and counts what it scores."""

from pathlib import Path

import numpy as np
import torch

from deixis.data.corpus import Corpus
from deixis.evaluation.probes.scoring_cost import Scoring
from deixis.evaluation.reranking.rerank_sweep import sweep
from deixis.similarity.scan_attention import CrossAttention
from deixis.similarity.similarity import Cosine
from deixis.types import Embedding


def embedded(items: int, parts: int) -> Embedding:
    vectors = torch.nn.functional.normalize(torch.randn(items, parts, 8), dim=2)
    return Embedding(vectors, torch.ones(items, parts, dtype=torch.bool))


def test_everything_re_ranked_is_the_slow_model_and_less_scores_fewer_pairs():
    corpus = ten_images()
    fast = Scoring(Cosine(), embedded(10, 1), embedded(20, 1))
    slow = Scoring(CrossAttention("t2i", 9.0, "mean", 6.0), embedded(10, 4), embedded(20, 3))
    lines = {line.label: line for line in sweep(fast, slow, [0.1, 1.0, 3.0], corpus)}
    assert lines["re-rank 100 %"].measures == lines["slow model alone"].measures
    assert lines["slow model alone"].measures != lines["fast model alone"].measures
    assert 10 * 2 <= lines["re-rank 10 %"].pairs <= 10 * 2 + 20 * 1
    assert lines["re-rank 100 %"].pairs == lines["slow model alone"].pairs == 200
    assert 10 * 3 <= lines["re-rank 3"].pairs <= 10 * 3 + 20 * 3
    assert lines["fast model alone"].complexity == "O(N²D)"
    assert lines["slow model alone"].complexity == "O(N²M²D)"
    assert all(line.query > 0 and line.whole > 0 for line in lines.values())


def ten_images() -> Corpus:
    pairs = np.stack([np.arange(20) // 2, np.arange(20)], axis=1)
    return Corpus(
        name="ten",
        root=Path(),
        files=tuple(f"{i}.png" for i in range(10)),
        texts=tuple(f"text {t}" for t in range(20)),
        owners=pairs[:, 0],
        pairs=pairs,
        splits=("test",) * 10,
    )
