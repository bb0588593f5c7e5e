"""EfficientNet-Lite as an ONNX graph in eight bits: static ranges, a scale per output channel.

Every activation is a byte between a QuantizeLinear and a DequantizeLinear, which runtimes fuse
with the convolution between them. Pixels are bytes already and enter as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from deixis.features.graphs.lite_graph import MEAN, SCALE, LiteGraph, Weights, _folded

Ranges = Mapping[str, tuple[float, float]]  # activation → lowest and highest value ever seen
LARGEST_BIAS = 2.0**30  # of an int32


@dataclass(frozen=True, slots=True)
class Scale:
    """How bytes represent numbers: ``number = (byte - zero) * step``."""

    step: float
    zero: int

    @classmethod
    def over(cls, lowest: float, highest: float) -> "Scale":
        """Spread 256 steps over a range and zero, which must be exact: padding is zero."""
        low, high = min(lowest, 0.0), max(highest, 0.0)
        step = max(high - low, 1e-8) / 255
        return cls(step, round(-low / step))


class LiteInt8Graph(LiteGraph):
    """The same network with bytes for activations; ``ranges`` come from a calibration.

    A ReLU6 needs no operator: its range begins at 0 and ends at 6 at most, and bytes saturate.
    """

    def __init__(self, weights: Weights, side: int, ranges: Ranges) -> None:
        super().__init__(weights, side)
        self._ranges = ranges
        self._scales: dict[str, Scale] = {}  # of every value in bytes

    def pixels(self) -> str:
        """Pixels are bytes with a known scale: nothing is computed, nothing is lost."""
        value = self.graph.node("Transpose", "pixels", perm=[0, 3, 1, 2])
        self._scales[value] = Scale(1 / SCALE, MEAN)
        return value

    def convolution(
        self, value: str, name: str, norm: str, stride: int = 1, active: bool = True
    ) -> str:
        """Convolve bytes with eight-bit kernels of one scale per output channel."""
        kernel, bias = _folded(self.weights, name, norm)
        names = [self.floats(value), *self._rounded(kernel, bias, self._scales[value].step)]
        made = self.graph.node("Conv", *names, **self.shape(kernel, stride))
        return self._bytes(made, name)

    def add(self, value: str, other: str, name: str) -> str:
        """Add two maps of bytes."""
        return self._bytes(self.graph.node("Add", self.floats(value), self.floats(other)), name)

    def floats(self, value: str) -> str:
        """The numbers that bytes represent; one operator per reader, which fusions need."""
        return self.graph.node("DequantizeLinear", value, *self._constants(self._scales[value]))

    def _bytes(self, value: str, name: str) -> str:
        scale = Scale.over(*self._ranges[name])
        value = self.graph.node("QuantizeLinear", value, *self._constants(scale))
        self._scales[value] = scale
        return value

    def _constants(self, scale: Scale) -> tuple[str, str]:
        step, zero = np.array(scale.step, np.float32), np.array(scale.zero, np.uint8)
        return self.graph.constant(step), self.graph.constant(zero)

    def _rounded(self, kernel: ndarray, bias: ndarray, step: float) -> list[str]:
        """Kernel and bias as whole numbers, each behind the operator that scales it back."""
        largest = np.abs(kernel).max(axis=(1, 2, 3)) / 127
        # A channel of nearly zeros would need a bias beyond an int32.
        scale = np.maximum(largest, np.abs(bias) / (step * LARGEST_BIAS)).clip(1e-12)
        weights = np.round(kernel / scale[:, None, None, None]).astype(np.int8)
        added = np.round(bias / (scale * step)).astype(np.int32)
        return [self._scaled(weights, scale), self._scaled(added, scale * step)]

    def _scaled(self, whole: ndarray, scale: ndarray) -> str:
        zero = np.zeros(len(scale), whole.dtype)
        names = [self.graph.constant(one) for one in (whole, scale.astype(np.float32), zero)]
        return self.graph.node("DequantizeLinear", *names, axis=0)
