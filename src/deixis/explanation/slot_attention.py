"""What the elements of set embeddings attend to, and where that lies in the picture."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from deixis.encoders.encoder import Encoder
from deixis.encoders.trainable_towers import TrainableImageTower
from deixis.errors import RunError
from deixis.types import Regions


@runtime_checkable
class WatchedHead(Protocol):
    """A head whose elements attend to places and which can return that attention."""

    def attention_by_iteration(
        self, places: Float[Tensor, "item place size"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item round part place"]:
        """The share of each place in each element, at every iteration."""
        ...


@dataclass(frozen=True)
class AttentionMaps:
    """What each element of each image attends to in every iteration, and where that is."""

    shares: Float[Tensor, "image round part region"]
    boxes: Float[Tensor, "image region 5"]


@torch.no_grad()
def attention_maps(encoder: Encoder, regions: Regions) -> AttentionMaps:
    """Attention of each element over the regions of each image."""
    if not isinstance(encoder.head, WatchedHead):
        raise RunError("this model's images are not sets made by attention; try a DivE or PVSE run")
    regions, boxes = with_boxes(encoder, regions)
    return AttentionMaps(encoder.head.attention_by_iteration(*encoder.for_head(regions)), boxes)


def with_boxes(
    encoder: Encoder, regions: Regions
) -> tuple[Regions, Float[Tensor, "image region 5"]]:
    """The regions an encoder's body works on, and where they lie.

    A tower trained with the model is given pixels; its patches are the regions.
    """
    if isinstance(encoder, TrainableImageTower):
        regions = encoder.patches(regions)
    if regions.boxes is None:
        raise RunError("these features do not say where regions lie; extract a grid instead")
    return regions, regions.boxes
