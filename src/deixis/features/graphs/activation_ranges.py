"""The ranges of a network's activations: the lowest and the highest over examples."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from numpy import ndarray

from deixis.features.backbones.onnx_graph import session_of


def ranges_of(
    graph: bytes, watched: Mapping[str, str], examples: Iterable[Mapping[str, ndarray]]
) -> dict[str, tuple[float, float]]:
    """Run a graph over examples and note the range of every watched value, by its key."""
    lowest: dict[str, float] = {}
    highest: dict[str, float] = {}
    session = _session(graph)
    for example in examples:
        found = session.run(list(watched.values()), dict(example))
        for key, value in zip(watched, found, strict=True):
            lowest[key] = min(lowest.get(key, float("inf")), float(value.min()))
            highest[key] = max(highest.get(key, float("-inf")), float(value.max()))
    return {key: (lowest[key], highest[key]) for key in lowest}


def _session(graph: bytes) -> Any:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "watched.onnx"
        path.write_bytes(graph)
        return session_of(path)
