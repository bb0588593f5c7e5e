"""One narrated query through a seed-size tower, beside scoring it over 100,000 cached images."""

import numpy as np
import onnxruntime
import torch
from torch import Tensor

from benchmarks.harness import Figure, agreement, interleaved, speed_up
from deixis.encoders.query_graph import query_graph
from deixis.methods.model import Sizes
from deixis.methods.text_trace import TextTrace
from deixis.search.exact import Exact
from deixis.types import Tokens, Trace

WORDS, BOXES, VOCABULARY, IMAGES = 60, 40, 30_000, 100_000
REPEATS = 7


def figures() -> list[Figure]:
    torch.manual_seed(0)
    method = TextTrace()
    tower = method.model(Sizes(region=8, vocabulary=VOCABULARY)).text.eval()
    query = narrated_query()
    exact, rounded = (open_session(query_graph(tower, eight_bits=eight)) for eight in (False, True))
    fed = {"ids": query.ids.numpy().astype(np.int32), "boxes": query.trace.boxes.numpy()}
    index, everything = Exact(random_rows(method.dim)), np.ones(IMAGES, dtype=bool)

    def eager() -> Tensor:
        with torch.no_grad():
            return tower(query).vectors[0, 0]

    vector = eager().numpy()
    torch_run, exact_run, rounded_run, scoring = interleaved(
        REPEATS,
        eager,
        lambda: exact.run(["vector"], fed)[0][0],
        lambda: rounded.run(["vector"], fed)[0][0],
        lambda: index.search(vector[None], 10, everything),
    )
    cosine = float(rounded_run.result @ vector)
    share = rounded_run.seconds / scoring.seconds
    detail = f"{rounded_run.seconds * 1e3:.0f} ms beside {scoring.seconds * 1e3:.0f} ms"
    return [
        speed_up("encoding in 32 bits by ONNX Runtime beside torch", exact_run, torch_run, 1.0),
        agreement("… the two vectors differ by", exact_run.result, vector, 1e-4),
        speed_up("encoding in 8 bits by ONNX Runtime beside torch", rounded_run, torch_run, 1.5),
        Figure("… cosine of the two vectors", cosine, 0.999, unit=""),
        Figure(f"encoding beside scoring {IMAGES:,} images", share, 20.0, "lower", detail=detail),
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


def open_session(graph: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
