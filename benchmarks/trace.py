"""One narrated query through a tower of the published size, and scoring 100,000 cached images."""

import numpy as np
import torch
from torch import Tensor

from benchmarks.harness import Figure, interleaved
from deixis.methods.text_trace import TextTrace
from deixis.neighbours.exact import Exact
from deixis.types import Sizes, Tokens, Trace

WORDS, BOXES, VOCABULARY, IMAGES = 60, 40, 30_000, 100_000
REPEATS = 7
TINY = {"IMAGES": 100, "VOCABULARY": 50, "REPEATS": 1}


def figures() -> list[Figure]:
    torch.manual_seed(0)
    method = TextTrace()
    tower = method.model(Sizes(region=8, vocabulary=VOCABULARY)).text.eval()
    query = narrated_query()
    index, everything = Exact(random_rows(method.dim)), np.ones(IMAGES, dtype=bool)

    def eager() -> Tensor:
        with torch.no_grad():
            return tower(query).vectors[0, 0]

    vector = eager().numpy()
    encoding, scoring = interleaved(
        REPEATS, eager, lambda: index.search(vector[None], 10, everything)
    )
    share = encoding.seconds / scoring.seconds
    detail = f"{encoding.seconds * 1e3:.0f} ms beside {scoring.seconds * 1e3:.0f} ms"
    return [
        Figure(f"encoding beside scoring {IMAGES:,} images", share, 20.0, "lower", detail=detail)
    ]


def narrated_query() -> Tokens:
    times = torch.linspace(0, 20, BOXES)
    trace = Trace(
        torch.rand(1, BOXES, 5),
        torch.ones(1, BOXES, dtype=torch.bool),
        torch.stack([times, times + 0.4], dim=1)[None],
        torch.full((1, BOXES), -1),
    )
    ids = torch.randint(5, VOCABULARY, (1, WORDS))
    return Tokens(ids, torch.ones(1, WORDS, dtype=torch.bool), trace=trace)


def random_rows(dim: int) -> np.ndarray:
    rows = np.random.default_rng(0).standard_normal((IMAGES, dim), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
