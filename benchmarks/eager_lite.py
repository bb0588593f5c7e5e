"""EfficientNet-Lite in plain torch, module by module: the yardstick for the ONNX graph."""

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

STRIDES = (1, 2, 2, 2, 1, 2, 1)  # one a stage


class SameConv(nn.Conv2d):
    """A convolution padded as TensorFlow does: the odd pixel goes to the bottom right."""

    def forward(self, x: Tensor) -> Tensor:
        pads: list[int] = []
        for length, kernel, stride in zip(
            x.shape[:1:-1], self.kernel_size, self.stride, strict=True
        ):
            total = max((-(-length // stride) - 1) * stride + kernel - length, 0)
            pads += [total // 2, total - total // 2]
        return super().forward(functional.pad(x, pads))


class Block(nn.Module):
    """Expand, filter each channel, project; add the input where shapes allow."""

    def __init__(self, weights: dict[str, Tensor], prefix: str, stride: int) -> None:
        super().__init__()
        depthwise = weights[f"{prefix}_depthwise_conv.weight"]
        project = weights[f"{prefix}_project_conv.weight"]
        hidden, _, kernel, _ = depthwise.shape
        expand = weights.get(f"{prefix}_expand_conv.weight")
        if expand is not None:
            self._expand_conv = nn.Conv2d(expand.shape[1], hidden, 1, bias=False)
            self._bn0 = nn.BatchNorm2d(hidden, eps=1e-3)
        self._depthwise_conv = SameConv(hidden, hidden, kernel, stride, groups=hidden, bias=False)
        self._bn1 = nn.BatchNorm2d(hidden, eps=1e-3)
        self._project_conv = nn.Conv2d(hidden, project.shape[0], 1, bias=False)
        self._bn2 = nn.BatchNorm2d(project.shape[0], eps=1e-3)

    def forward(self, x: Tensor) -> Tensor:
        y = x
        if hasattr(self, "_expand_conv"):
            y = functional.relu6(self._bn0(self._expand_conv(y)))
        y = functional.relu6(self._bn1(self._depthwise_conv(y)))
        y = self._bn2(self._project_conv(y))
        return x + y if x.shape == y.shape else y


class EagerLite(nn.Module):
    """The network of a packaged checkpoint, its classifier included."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        weights = torch.load(path, weights_only=True, map_location="cpu")
        stem, head = weights["_conv_stem.weight"], weights["_conv_head.weight"]
        self._conv_stem = SameConv(3, stem.shape[0], 3, 2, bias=False)
        self._bn0 = nn.BatchNorm2d(stem.shape[0], eps=1e-3)
        self._blocks = nn.ModuleList(_blocks(weights, stem.shape[0]))
        self._conv_head = nn.Conv2d(head.shape[1], head.shape[0], 1, bias=False)
        self._bn1 = nn.BatchNorm2d(head.shape[0], eps=1e-3)
        self._fc = nn.Linear(head.shape[0], weights["_fc.weight"].shape[0])
        self.load_state_dict(weights)
        self.eval()

    def forward(self, pixels: Tensor) -> Tensor:
        """From uint8 pixels (image, y, x, channel) to the last map (image, feature, y, x)."""
        x = ((pixels.float() - 127.0) / 128.0).permute(0, 3, 1, 2)
        x = functional.relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        return functional.relu6(self._bn1(self._conv_head(x)))

    def classify(self, pixels: Tensor) -> Tensor:
        """Logits of the thousand ImageNet classes."""
        return self._fc(self(pixels).mean((2, 3)))


def _blocks(weights: dict[str, Tensor], width: int) -> list[Block]:
    count = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("_blocks."))
    blocks, stage = [], -1
    for index in range(count):
        prefix = f"_blocks.{index}."
        out = weights[f"{prefix}_project_conv.weight"].shape[0]
        new = out != width
        stage, width = stage + new, out
        blocks.append(Block(weights, prefix, STRIDES[stage] if new else 1))
    return blocks
