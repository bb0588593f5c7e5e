"""MiniLM as an ONNX graph of 32-bit floats."""

from collections.abc import Mapping

import numpy as np
from numpy import ndarray

from deixis.features.backbones.onnx_graph import CONTRIBUTED, OnnxGraph

LAYERS, HEADS, EPSILON = 6, 12, 1e-12

Weights = Mapping[str, ndarray]


class MinilmGraph:
    """Unpadded ids of word pieces to their ``states`` in context: six BERT layers."""

    def __init__(self, weights: Weights) -> None:
        self.graph, self.weights = OnnxGraph(), weights

    def build(self) -> bytes:
        """Write the graph."""
        value = self._embed()
        for layer in range(LAYERS):
            value = self._layer(value, f"encoder.layer.{layer}.")
        self.graph.rename(value, "states")
        return self.graph.serialise({"ids": (np.int32, ["text", "piece"])}, ["states"])

    def words(self, table: ndarray) -> str:
        """Look up the vectors of the ids."""
        return self.graph.node("Gather", self.graph.constant(table), "ids")

    def attend(self, value: str, matrix: ndarray, bias: str) -> str:
        """Self-attention of all heads; ``matrix`` projects to queries, keys and values."""
        names = [value, self.graph.constant(matrix), bias]
        return self.graph.node("Attention", *names, domain=CONTRIBUTED, num_heads=HEADS)

    def product(self, value: str, matrix: ndarray) -> str:
        """Multiply by a matrix (in × out)."""
        return self.graph.node("MatMul", value, self.graph.constant(matrix))

    def _embed(self) -> str:
        graph, weights = self.graph, self.weights
        # Every text is a first segment, so its segment vector is part of every place's vector.
        segment = weights["embeddings.token_type_embeddings.weight"][0]
        places = graph.constant(weights["embeddings.position_embeddings.weight"] + segment)
        length = graph.node("Shape", "ids", start=1, end=2)
        first = graph.constant(np.array([0], np.int64))
        value = self.words(weights["embeddings.word_embeddings.weight"])
        value = graph.node("Add", value, graph.node("Slice", places, first, length))
        norm = self._norm("embeddings")
        return graph.node("LayerNormalization", value, *norm, epsilon=EPSILON)

    def _layer(self, value: str, prefix: str) -> str:
        parts = [f"{prefix}attention.self.{part}" for part in ("query", "key", "value")]
        matrix = np.concatenate([self.weights[f"{part}.weight"] for part in parts]).T
        bias = np.concatenate([self.weights[f"{part}.bias"] for part in parts])
        heads = self.attend(value, matrix, self.graph.constant(bias))
        value = self._add_and_normalise(heads, value, f"{prefix}attention.output")
        matrix, added = self._dense(f"{prefix}intermediate")
        hidden = self.product(value, matrix)
        hidden = self.graph.node("BiasGelu", hidden, added, domain=CONTRIBUTED)
        return self._add_and_normalise(hidden, value, f"{prefix}output")

    def _add_and_normalise(self, new: str, old: str, name: str) -> str:
        """Project what is new, add what was there, normalise the sum."""
        matrix, bias = self._dense(name)
        options = {"domain": CONTRIBUTED, "epsilon": EPSILON}
        made = self.product(new, matrix)
        return self.graph.node(
            "SkipLayerNormalization", made, old, *self._norm(name), bias, **options
        )

    def _dense(self, name: str) -> tuple[ndarray, str]:
        bias = self.graph.constant(self.weights[f"{name}.dense.bias"])
        return self.weights[f"{name}.dense.weight"].T, bias

    def _norm(self, name: str) -> list[str]:
        parts = [self.weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias")]
        return [self.graph.constant(part) for part in parts]
