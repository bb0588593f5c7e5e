"""EfficientNet-Lite as an ONNX graph of 32-bit floats."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy import ndarray

from deixis.features.backbones.onnx_graph import OnnxGraph

STRIDES = (1, 2, 2, 2, 1, 2, 1)  # one per stage; every stage begins where the width changes
EPSILON = 1e-3  # of the batch normalisation the checkpoints were trained with
MEAN, SCALE = 127, 128.0  # of pixels; as trained
OUTPUTS = ("grid", "pooled", "middle")

Weights = Mapping[str, ndarray]


class LiteGraph:
    """Pixels to ``grid`` (stride 32), its mean ``pooled``, and ``middle`` (stride 16).

    Both maps are written cell by cell, row after row: image × cell × feature. ``middle`` is the
    last map before the stage that halves it. ``watched`` names every value that is an activation,
    so that a calibration can ask for it.
    """

    def __init__(self, weights: Weights, side: int) -> None:
        self.graph, self.weights, self.side, self.map = OnnxGraph(), weights, side, side
        self.watched: dict[str, str] = {}

    def build(self, *, watch: bool = False) -> bytes:
        """Write the graph; with ``watch`` every activation is an output, too."""
        value = self.convolution(self.pixels(), "_conv_stem", "_bn0", stride=2)
        for prefix, stride, residual in _blocks(self.weights):
            if stride == 2:
                middle, side = value, self.map  # the last halving leaves the map of stride 16
            value = self.block(value, prefix, stride, residual)
        self.cells(middle, side, "middle")
        value = self.convolution(value, "_conv_head", "_bn1")
        self.cells(value, self.map, "grid")
        mean = self.graph.node("GlobalAveragePool", self.floats(value))
        self.graph.rename(self.graph.node("Flatten", mean), "pooled")
        inputs = {"pixels": (np.uint8, ["image", self.side, self.side, 3])}
        return self.graph.serialise(inputs, [*OUTPUTS, *(self.watched.values() if watch else ())])

    def pixels(self) -> str:
        """Pixels as the network was trained with: (pixel - 127) / 128, channels first."""
        graph = self.graph
        value = graph.node("Cast", "pixels", to=1)  # to float32
        value = graph.node("Sub", value, graph.constant(np.array(MEAN, np.float32)))
        value = graph.node("Div", value, graph.constant(np.array(SCALE, np.float32)))
        return graph.node("Transpose", value, perm=[0, 3, 1, 2])

    def convolution(
        self, value: str, name: str, norm: str, stride: int = 1, active: bool = True
    ) -> str:
        """Convolve with the normalisation folded in, padded as TensorFlow pads."""
        kernel, bias = _folded(self.weights, name, norm)
        names = [value, self.graph.constant(kernel), self.graph.constant(bias)]
        value = self.graph.node("Conv", *names, **self.shape(kernel, stride))
        if active:  # ReLU6
            limits = (np.array(0, np.float32), np.array(6, np.float32))
            value = self.graph.node("Clip", value, *(self.graph.constant(one) for one in limits))
        self.watched[name] = value
        return value

    def block(self, value: str, prefix: str, stride: int, residual: bool) -> str:
        """Expand, filter each channel, project; add the input where shapes allow."""
        hidden = value
        if f"{prefix}_expand_conv.weight" in self.weights:
            hidden = self.convolution(hidden, f"{prefix}_expand_conv", f"{prefix}_bn0")
        hidden = self.convolution(hidden, f"{prefix}_depthwise_conv", f"{prefix}_bn1", stride)
        out = self.convolution(hidden, f"{prefix}_project_conv", f"{prefix}_bn2", active=False)
        return self.add(value, out, f"{prefix}sum") if residual else out

    def add(self, value: str, other: str, name: str) -> str:
        """Add two maps."""
        self.watched[name] = self.graph.node("Add", value, other)
        return self.watched[name]

    def floats(self, value: str) -> str:
        """The value as 32-bit floats, which it already is here."""
        return value

    def cells(self, value: str, side: int, name: str) -> None:
        """Give a map out as image × cell × feature."""
        cells = self.graph.node("Transpose", self.floats(value), perm=[0, 2, 3, 1])
        shape = self.graph.constant(np.array([0, side * side, -1], np.int64))
        self.graph.rename(self.graph.node("Reshape", cells, shape), name)

    def shape(self, kernel: ndarray, stride: int) -> dict[str, object]:
        """The options of a convolution, which leaves ``map`` at the side of its output."""
        out = -(-self.map // stride)
        padding = max((out - 1) * stride + kernel.shape[2] - self.map, 0)
        before, after = padding // 2, padding - padding // 2
        self.map = out
        return {
            "group": len(kernel) if kernel.shape[1] == 1 else 1,
            "kernel_shape": kernel.shape[2:],
            "pads": [before, before, after, after],
            "strides": [stride, stride],
        }


def _blocks(weights: Weights) -> Iterator[tuple[str, int, bool]]:
    """Each block's prefix, stride and whether it adds its input, recovered from the shapes."""
    count = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("_blocks."))
    width, strides = len(weights["_conv_stem.weight"]), iter(STRIDES)
    for index in range(count):
        prefix = f"_blocks.{index}."
        out = len(weights[f"{prefix}_project_conv.weight"])
        yield prefix, 1 if out == width else next(strides), out == width
        width = out


def _folded(weights: Weights, name: str, norm: str) -> tuple[ndarray, ndarray]:
    scale = weights[f"{norm}.weight"] / np.sqrt(weights[f"{norm}.running_var"] + EPSILON)
    bias = weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * scale
    return weights[f"{name}.weight"] * scale[:, None, None, None], bias
