"""Products of eight-bit rows with eight-bit queries, added up exactly in 32 bits, by ONNX Runtime.

Rows become the constant matrix of a graph with one node. ONNX Runtime lays it out once for its
integer kernels, which are chosen for the processor when the session opens. The node also scales
each row's sums, while they are in the processor's cache. The graph is a few bytes of protobuf
around the matrix, so writing it needs no other package.
"""

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy import ndarray

from deixis.shapes import Float32, Int8, UInt8

# How rows are handed over. With signed rows some processors add pairs of products in 16 bits,
# which can overflow; with unsigned ones none does, at up to half the speed.
Layout = Literal["signed", "unsigned"]
IR, OPSET = 9, 18
FLOAT, UINT8, INT8 = 1, 2, 3  # ONNX's numbers of element types
MIDDLE = 128  # the unsigned number that stands for zero
NODE, DOMAIN, VERSION = "MatMulIntegerToFloat", "com.microsoft", 1
Parts = Sequence[bytes | memoryview]  # of a message, joined once: a matrix is copied only then


def return_freed_memory() -> None:
    """Hand back what making sessions freed: glibc would keep as much again as the rows take."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


class IntegerProduct:
    """A block of rows, given as columns, ready to be multiplied with queries."""

    def __init__(
        self, rows: Int8[ndarray, "dim row"], scale: Float32[ndarray, " row"], layout: Layout
    ) -> None:
        self._session, self.count = _session(_model(rows, scale, layout)), len(scale)

    def __call__(
        self, queries: Int8[ndarray, "query dim"], room: Float32[ndarray, " number"]
    ) -> Float32[ndarray, "query row"]:
        """All inner products times the scale of their rows, written into the beginning of a room.

        Sums are exact, then rounded to float32 once, and once more when they are scaled.
        """
        out = room[: len(queries) * self.count].reshape(len(queries), self.count)
        self.bound(_unsigned(queries), out)()
        return out

    def bound(
        self, queries: UInt8[ndarray, "query dim"], out: Float32[ndarray, "query row"]
    ) -> Callable[[], None]:
        """What multiplies the bytes that then lie in ``queries``, and writes to ``out``."""
        binding = self._session.io_binding()
        binding.bind_cpu_input("queries", queries)
        binding.bind_output("products", "cpu", 0, np.float32, out.shape, out.ctypes.data)
        return partial(self._session.run_with_iobinding, binding)


class BoundProducts:
    """Products of a few queries with all blocks: bound once, since that takes as long as a block.

    The arrays are written anew by every call.
    """

    def __init__(self, blocks: Sequence[IntegerProduct], queries: int, dim: int) -> None:
        self._queries = np.empty((queries, dim), np.uint8)
        self.room = np.empty(queries * sum(block.count for block in blocks), np.float32)
        ends = np.cumsum([queries * block.count for block in blocks])
        parts = np.split(self.room, ends[:-1])
        self.products = [part.reshape(queries, -1) for part in parts]
        self._bound = [
            block.bound(self._queries, out)
            for block, out in zip(blocks, self.products, strict=True)
        ]

    def __call__(self, queries: Int8[ndarray, "query dim"]) -> None:
        """Compute the products, block by block."""
        self._queries[:] = _unsigned(queries)
        for bound in self._bound:
            bound()


def _unsigned(values: Int8[ndarray, "*shape"]) -> ndarray:
    return np.asarray(values.view(np.uint8) ^ MIDDLE)


def _session(model: bytes) -> Any:
    import onnxruntime  # slow to load, and small libraries do without

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # There is nothing to optimise in one node, and looking for it would copy the rows once more.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_cpu_mem_arena = False  # an arena would keep a second copy of the rows
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    session._model_bytes = None  # kept for a change of provider; there is only one
    return session


def _model(
    matrix: Int8[ndarray, "dim row"], scale: Float32[ndarray, " row"], layout: Layout
) -> bytes:
    kind, rows = (INT8, matrix) if layout == "signed" else (UINT8, _unsigned(matrix))
    zero: Parts = [bytes([MIDDLE])]
    names = ["queries", "rows", "one", "scale", "zero_of_queries"]
    tensors = [
        _tensor("rows", kind, rows.shape, [_bytes(rows)]),
        _tensor("one", FLOAT, (), [_bytes(np.ones((), np.float32))]),
        _tensor("scale", FLOAT, scale.shape, [_bytes(scale)]),
        _tensor("zero_of_queries", UINT8, (), zero),
    ]
    if kind == UINT8:
        tensors.append(_tensor("zero_of_rows", UINT8, (), zero))
        names.append("zero_of_rows")
    node = [part for name in names for part in _text(1, name)]
    graph = [
        *_message(1, [*node, *_text(2, "products"), *_text(4, NODE), *_text(7, DOMAIN)]),
        *_text(2, "rows"),
        *(part for tensor in tensors for part in _message(5, tensor)),
        *_message(11, _value("queries", UINT8, len(matrix))),
        *_message(12, _value("products", FLOAT, matrix.shape[1])),
    ]
    versions = [*_message(8, _number(2, OPSET)), *_message(8, _domain())]
    return b"".join([*_number(1, IR), *_message(7, graph), *versions])


def _bytes(values: ndarray) -> memoryview:
    return np.ascontiguousarray(values).reshape(-1).data.cast("B")


def _domain() -> Parts:
    return [*_text(1, DOMAIN), *_number(2, VERSION)]


def _tensor(name: str, kind: int, shape: Sequence[int], content: Parts) -> Parts:
    dims = [part for size in shape for part in _number(1, size)]
    return [*dims, *_number(2, kind), *_text(8, name), *_message(9, content)]


def _value(name: str, kind: int, columns: int) -> Parts:
    """A matrix of a free number of rows."""
    shape = [*_message(1, _text(2, "query")), *_message(1, _number(1, columns))]
    matrix = [*_number(1, kind), *_message(2, shape)]
    return [*_text(1, name), *_message(2, _message(1, matrix))]


def _number(field: int, value: int) -> Parts:
    return [_varint(field << 3), _varint(value)]


def _text(field: int, value: str) -> Parts:
    return _message(field, [value.encode()])


def _message(field: int, content: Parts) -> Parts:
    return [_varint(field << 3 | 2), _varint(sum(map(len, content))), *content]


def _varint(value: int) -> bytes:
    """Seven bits per byte, lowest first; the eighth says that more follow."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
