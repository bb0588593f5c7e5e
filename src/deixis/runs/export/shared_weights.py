"""Graphs of a run that take their matrices from its weights file, so that none is shipped twice."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.errors import RunError

INT8 = ".int8"  # after the name of a matrix that ``with_eight_bit_matrices`` rewrote
Shared = Mapping[str, str]  # a matrix's name in a graph → its name in the weights file


def without_shared(
    graph: bytes, side: str, weights: Mapping[str, ndarray], file: str
) -> tuple[bytes, dict[str, str]]:
    """A tower's graph without the eight-bit matrices that the run's weights hold as they are.

    ``side`` is "image" or "text"; the graph names ``file`` as the place of what it lacks.
    """
    from onnx import TensorProto, load_from_string, numpy_helper  # only to export

    model, shared = load_from_string(graph), {}
    for held in model.graph.initializer:
        name = side + held.name.removeprefix("encoder").removesuffix(INT8)
        known = weights.get(name) if held.name.endswith(INT8) else None
        if known is None or not np.array_equal(known, numpy_helper.to_array(held)):
            continue
        shared[held.name] = name
        held.ClearField("raw_data")
        held.data_location = TensorProto.EXTERNAL
        place = held.external_data.add()
        place.key, place.value = "location", file
    return bytes(model.SerializeToString()), shared


def shared_matrices(weights: Path, shared: Shared) -> dict[str, ndarray]:
    """The matrices a graph lacks, by their names in the graph."""
    if not shared:
        return {}
    from safetensors import SafetensorError, safe_open  # only where something is shared

    try:
        with safe_open(weights, "numpy") as file:
            return {name: file.get_tensor(kept) for name, kept in shared.items()}
    except SafetensorError as error:
        raise RunError(f"{weights} lacks what its graphs need: {error}; export again") from error
