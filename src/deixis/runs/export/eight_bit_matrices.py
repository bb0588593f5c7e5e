"""Matrices of an ONNX graph stored as integers with a scale per row."""

import numpy as np
from numpy import ndarray

STEPS = 127  # the largest whole number ``int8.shrink`` rounds to
EXACT = 1e-6  # of the largest weight: what 32-bit floats lose on the way


def with_eight_bit_matrices(graph: bytes) -> bytes:
    """Store what was rounded to eight bits in eight bits; other weights stay as they are.

    The graph computes the same: each matrix comes back as floats when it is used.
    """
    from onnx import helper, load_from_string, numpy_helper  # only to export

    model = load_from_string(graph)
    held = model.graph.initializer
    for place in reversed(range(len(held))):
        name, matrix = held[place].name, numpy_helper.to_array(held[place])
        found = _rounded(matrix) if matrix.ndim == 2 and matrix.dtype == np.float32 else None
        if found is None:
            continue
        whole, scale, axis = found
        del held[place]
        parts = {"int8": whole, "scale": scale, "zero": np.zeros(len(scale), np.int8)}
        held.extend(numpy_helper.from_array(one, f"{name}.{key}") for key, one in parts.items())
        inputs = [f"{name}.{key}" for key in parts]
        model.graph.node.insert(0, helper.make_node("DequantizeLinear", inputs, [name], axis=axis))
    return bytes(model.SerializeToString())


def _rounded(matrix: ndarray) -> tuple[ndarray, ndarray, int] | None:
    """Whole numbers, their scales, and whether these belong to rows or, transposed, to columns."""
    for axis in (0, 1):
        scale = np.abs(matrix).max(axis=1 - axis, keepdims=True).clip(1e-12) / STEPS
        whole = np.round(matrix / scale)
        if np.abs(whole * scale - matrix).max(initial=0.0) <= EXACT * np.abs(matrix).max(initial=0):
            return whole.astype(np.int8), scale.astype(np.float32).ravel(), axis
    return None
