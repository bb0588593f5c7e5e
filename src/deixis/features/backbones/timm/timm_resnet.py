"""ResNet and ResNeXt as the timm library publishes them, without that library.

timm itself needs torchvision. Its residual networks with bottlenecks are a page of torch, and their
depths, widths and groups can be read off the weights. The ResNeXt-101 32x8d of VSE∞ and DivE,
trained on a billion tagged pictures ("WSL"), is ``timm/resnext101_32x8d.fb_wsl_ig1b_ft_in1k``. This
module needs torch; nothing else in this folder imports it before a tower is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from deixis.errors import FeatureError
from deixis.features.backbones.timm.timm_folder import CAFFE

CLASSIFIER = "fc."  # of a thousand classes; not part of the tower


@dataclass(frozen=True)
class FeatureMap:
    """What a network makes of pictures, by the names the transformers library has."""

    last_hidden_state: Float[Tensor, "image feature y x"]
    pooler_output: Float[Tensor, "image feature"]


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3 in groups, 1 x 1, and around them a shortcut.

    *Paper*: ResNet 2016, ResNeXt 2017; the stride is at the 3 x 3, as in torchvision and timm.
    """

    def __init__(self, shapes: Mapping[str, torch.Size], stride: int) -> None:
        super().__init__()
        width, size = shapes["conv1.weight"][:2]
        groups, out = width // shapes["conv2.weight"][1], shapes["conv3.weight"][0]
        self.conv1 = nn.Conv2d(size, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, groups=groups, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(out)
        self.downsample: nn.Module = nn.Identity()
        if "downsample.0.weight" in shapes:
            shortcut = nn.Conv2d(size, out, 1, stride, bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(out))

    def forward(self, maps: Float[Tensor, "image size y x"]) -> Float[Tensor, "image out yy xx"]:
        """One step deeper."""
        inner = self.bn1(self.conv1(maps)).relu()
        inner = self.bn2(self.conv2(inner)).relu()
        return (self.bn3(self.conv3(inner)) + self.downsample(maps)).relu()


class TimmResNet(nn.Module):
    """A residual network of bottlenecks: pictures to the last map and its mean."""

    main_input_name: ClassVar[str] = "pixel_values"

    def __init__(self, shapes: Mapping[str, torch.Size]) -> None:
        super().__init__()
        self.config = SimpleNamespace(model_type="timm")
        first = shapes["conv1.weight"][0]
        self.conv1 = nn.Conv2d(3, first, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(first)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        stages = [_stage(shapes, number) for number in (1, 2, 3, 4)]
        self.layer1, self.layer2, self.layer3, self.layer4 = stages

    def forward(self, pixel_values: Float[Tensor, "image 3 y x"]) -> FeatureMap:
        """See a batch of pictures, already normalised."""
        maps = self.maxpool(self.bn1(self.conv1(pixel_values)).relu())
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            maps = stage(maps)
        return FeatureMap(maps, maps.mean(dim=(2, 3)))


class CaffeResNet(TimmResNet):
    """The same as Caffe's networks have it, such as the detector of bottom-up attention.

    Maps are halved by the first 1 x 1 of a stage, not by its 3 x 3, and the pooling after the first
    convolution pads no edge but rounds up. Either kind fits the other's weights.
    """

    def __init__(self, shapes: Mapping[str, torch.Size]) -> None:
        super().__init__(shapes)
        self.maxpool = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        for stage in (self.layer2, self.layer3, self.layer4):
            first: Any = stage[0]
            first.conv1.stride, first.conv2.stride = (2, 2), (1, 1)


def load_timm_resnet(weights: Path, architecture: str) -> TimmResNet:
    """The network whose weights a timm file holds, or an error that names what is unlike one."""
    from safetensors.torch import load_file  # torch comes with it

    found = load_file(weights)
    found = {name: t for name, t in found.items() if not name.startswith(CLASSIFIER)}
    kind = CaffeResNet if architecture.startswith(CAFFE) else TimmResNet
    try:
        model = kind({name: tensor.shape for name, tensor in found.items()})
        model.load_state_dict(_with_counters(model, found))
    except (KeyError, ValueError, RuntimeError) as error:
        raise FeatureError(
            f"{weights}: '{architecture}' is not a ResNet or ResNeXt of bottlenecks behind a 7 x 7 "
            "convolution, such as resnet152 or resnext101_32x8d; other networks come in the "
            f"transformers library's layout ({error})"
        ) from error
    return model


def _stage(shapes: Mapping[str, torch.Size], number: int) -> nn.Sequential:
    """The blocks of one stage; the first halves the map, except in the first stage."""
    prefix = f"layer{number}."
    blocks: list[nn.Module] = []
    while f"{prefix}{len(blocks)}.conv1.weight" in shapes:
        own = f"{prefix}{len(blocks)}."
        inner = {name.removeprefix(own): s for name, s in shapes.items() if name.startswith(own)}
        blocks.append(Bottleneck(inner, 2 if number > 1 and not blocks else 1))
    if not blocks:
        raise KeyError(f"{prefix}0.conv1.weight")
    return nn.Sequential(*blocks)


def _with_counters(model: nn.Module, found: Mapping[str, Tensor]) -> dict[str, Any]:
    """Old files lack the counters of batch normalisation, which frozen statistics never read."""
    counters = {n: t for n, t in model.state_dict().items() if n.endswith("num_batches_tracked")}
    return {**counters, **found}
