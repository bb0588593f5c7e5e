"""The published query tower as an ONNX graph: words and boxes of one query in, one vector out.

One query has no padding, so the graph knows no masks. With eight bits, the matrices of the
transformer are kept as whole numbers with a scale a column, and its inputs rounded as they come.
"""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor, nn

from deixis.encoders.encoder import Encoder
from deixis.encoders.position import IndexPosition
from deixis.encoders.traced_words import WordsAndBoxes
from deixis.encoders.transformer import Layer, Transformer
from deixis.errors import RecipeError
from deixis.features.graph import CONTRIBUTED, Graph
from deixis.heads.mlp import MeanMLP


def query_graph(encoder: Encoder, *, eight_bits: bool = False) -> bytes:
    """Write the tower: ``ids`` (1, word) and ``boxes`` (1, box, 5) to ``vector`` (1, dim)."""
    body, head = encoder.body, encoder.head
    if not isinstance(body, WordsAndBoxes) or not isinstance(body.position, IndexPosition):
        raise RecipeError("only the published query tower (concat, index) becomes a graph")
    if body.geometry.code != "linear":
        raise RecipeError(f"geometry '{body.geometry.code}' does not become a graph; linear does")
    assert isinstance(head, MeanMLP)
    write = _EightBits() if eight_bits else _Writer()
    words = write.node("Gather", write.constant(body.words.weight), "ids")
    words = write.node("Add", words, write.places(body.position, "ids"))
    words = write.shifted(write.network(body.feed, words), body.kinds[0])
    places = write.node("Concat", words, write.boxes(body), axis=1)
    places = write.transformer(body.transformer, places)
    axes = write.integers(1)
    pooled = write.network(head.network, write.node("ReduceMean", places, axes, keepdims=0))
    if isinstance(head.norm, nn.BatchNorm1d):
        pooled = write.batch_norm(head.norm, pooled)
    length = write.node("ReduceL2", pooled, write.integers(1), keepdims=1)
    write.graph.rename(write.node("Div", pooled, length), "vector")
    inputs = {"ids": (np.int32, [1, "word"]), "boxes": (np.float32, [1, "box", 5])}
    return write.graph.serialise(inputs, ["vector"])


class _Writer:
    """Modules to nodes."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.node = self.graph.node

    def constant(self, tensor: Tensor) -> str:
        return self.graph.constant(tensor.detach().cpu().numpy())

    def integers(self, *values: int) -> str:
        return self.graph.constant(np.array(values, np.int64))

    def shifted(self, value: str, by: Tensor) -> str:
        return self.node("Add", value, self.constant(by))

    def linear(self, layer: nn.Linear, value: str) -> str:
        return self.shifted(self.node("MatMul", value, self.constant(layer.weight.T)), layer.bias)

    def network(self, layers: Iterable[nn.Module], value: str) -> str:
        for layer in layers:
            if isinstance(layer, nn.Linear):
                value = self.linear(layer, value)
            elif isinstance(layer, nn.ReLU):
                value = self.node("Relu", value)
        return value

    def places(self, position: IndexPosition, of: str) -> str:
        length = self.node("Shape", of, start=1, end=2)
        return self.node("Slice", self.constant(position.table.weight), self.integers(0), length)

    def boxes(self, body: WordsAndBoxes) -> str:
        weight, bias = body.geometry.folded()
        # 2 x − 1 is part of the same linear map.
        hidden = self.node("MatMul", "boxes", self.constant(2 * weight.T))
        hidden = self.shifted(hidden, bias - weight.sum(dim=1))
        value = self.network(list(body.geometry.feed)[1:], hidden)
        assert isinstance(body.box_position, IndexPosition)
        value = self.node("Add", value, self.places(body.box_position, "boxes"))
        return self.shifted(value, body.kinds[1])

    def transformer(self, transformer: Transformer, value: str) -> str:
        value = self.linear(transformer.enter, value)
        for layer in transformer.layers:
            assert isinstance(layer, Layer)
            attended = self.attention(layer, self.layer_norm(layer.norm_attend, value))
            value = self.node("Add", value, self.heavy(layer.outward, attended))
            hidden, outer = layer.feed[0], layer.feed[3]
            assert isinstance(hidden, nn.Linear)
            assert isinstance(outer, nn.Linear)
            fed = self.heavy(hidden, self.layer_norm(layer.norm_feed, value))
            value = self.node("Add", value, self.heavy(outer, self.node("Relu", fed)))
        return self.layer_norm(transformer.norm, value)

    def attention(self, layer: Layer, value: str) -> str:
        matrix, bias = self.constant(layer.inward.weight.T), self.constant(layer.inward.bias)
        options = {"domain": CONTRIBUTED, "num_heads": layer.heads}
        return self.node("Attention", value, matrix, bias, **options)

    def heavy(self, layer: nn.Linear, value: str) -> str:
        """A matrix of the transformer: where the time goes."""
        return self.linear(layer, value)

    def layer_norm(self, norm: nn.Module, value: str) -> str:
        if not isinstance(norm, nn.LayerNorm):
            return value
        parts = self.constant(norm.weight), self.constant(norm.bias)
        return self.node("LayerNormalization", value, *parts, epsilon=norm.eps)

    def batch_norm(self, norm: nn.BatchNorm1d, value: str) -> str:
        assert norm.running_mean is not None
        assert norm.running_var is not None
        scale = norm.weight / (norm.running_var + norm.eps).sqrt()
        value = self.node("Mul", value, self.constant(scale))
        return self.shifted(value, norm.bias - scale * norm.running_mean)


class _EightBits(_Writer):
    """The same with the transformer's matrices in eight bits."""

    def heavy(self, layer: nn.Linear, value: str) -> str:
        return self._rounded(layer.weight, layer.bias, value)

    def attention(self, layer: Layer, value: str) -> str:
        weights, biases = layer.inward.weight.chunk(3), layer.inward.bias.chunk(3)
        parts = [self._rounded(w, b, value) for w, b in zip(weights, biases, strict=True)]
        options = {"domain": CONTRIBUTED, "num_heads": layer.heads}
        return self.node("MultiHeadAttention", *parts, **options)

    def _rounded(self, weight: Tensor, bias: Tensor, value: str) -> str:
        # Seven bits of the eight: processors without VNNI add two products in sixteen bits.
        scale = weight.abs().amax(dim=1).clamp(min=1e-12) / 63
        rounded = (weight / scale[:, None]).round().to(torch.int8)
        zero = torch.zeros(len(scale), dtype=torch.int8)
        inputs = (self.constant(part) for part in (rounded.T, scale, zero, bias))
        return self.node("DynamicQuantizeMatMul", value, *inputs, domain=CONTRIBUTED)
