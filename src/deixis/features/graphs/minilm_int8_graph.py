"""MiniLM as an ONNX graph with eight-bit weights.

A matrix has one scale per ``BLOCK`` weights of an output. The product rounds every block of a row
of its input to eight bits as it goes, by the range of that block alone: a text's states do not
depend on the texts beside it, and nothing has to be calibrated.
"""

import numpy as np
from numpy import ndarray

from deixis.features.backbones.onnx_graph import CONTRIBUTED
from deixis.features.graphs.minilm_graph import HEADS, MinilmGraph

BLOCK = 64  # weights that share a scale
INTEGERS = 4  # ONNX Runtime's name for products of whole numbers where the processor has them
MIDDLE = 128  # the byte that stands for zero


class MinilmInt8Graph(MinilmGraph):
    """The same encoder; word vectors in eight bits, with one scale per word."""

    def words(self, table: ndarray) -> str:
        """Look up rounded vectors and their scales."""
        scale = (np.abs(table).max(axis=1, keepdims=True) / 127).clip(1e-12).astype(np.float32)
        rounded = self.graph.constant(np.round(table / scale).astype(np.int8))
        found = self.graph.node("Cast", self.graph.node("Gather", rounded, "ids"), to=1)
        scales = self.graph.node("Gather", self.graph.constant(scale), "ids")
        return self.graph.node("Mul", found, scales)

    def attend(self, value: str, matrix: ndarray, bias: str) -> str:
        """Self-attention behind a projection in eight bits."""
        graph, third = self.graph, matrix.shape[1] // 3
        parts = [
            self.product(value, matrix[:, start : start + third])
            for start in range(0, 3 * third, third)
        ]
        options = {"domain": CONTRIBUTED, "num_heads": HEADS}
        return graph.node("MultiHeadAttention", *parts, bias, **options)

    def product(self, value: str, matrix: ndarray) -> str:
        """Multiply by a rounded matrix (in × out)."""
        inward, outward = matrix.shape
        blocks = matrix.T.reshape(outward, inward // BLOCK, BLOCK)
        scale = (np.abs(blocks).max(axis=2, keepdims=True) / 127).clip(1e-12).astype(np.float32)
        rounded = (np.round(blocks / scale) + MIDDLE).astype(np.uint8)
        names = [self.graph.constant(one) for one in (rounded, scale.reshape(outward, -1))]
        options = {"K": inward, "N": outward, "bits": 8, "block_size": BLOCK}
        return self.graph.node(
            "MatMulNBits", value, *names, domain=CONTRIBUTED, accuracy_level=INTEGERS, **options
        )
