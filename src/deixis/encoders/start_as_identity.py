"""Layers that pass their input on until they have learnt something.

Behind random maps no cosine is what it was, and a method over two trained towers would first have
to win back what they know. Each rule changes how a layer starts, never what it computes.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from deixis.encoders.image.placed_regions import PlacedRegions
from deixis.encoders.positions.sequence_position import IndexPosition
from deixis.encoders.projection import Projection, ProjectionMLP
from deixis.encoders.refined_projection import RefinedProjection
from deixis.encoders.text.words_and_trace import WordsOnly
from deixis.encoders.transformer import SelfAttentionLayer, Transformer
from deixis.heads.gru_memory import GRUMemory
from deixis.heads.item_summary import ProjectedMean
from deixis.heads.mean_mlp import MeanMLP
from deixis.heads.pie_net import PIE
from deixis.heads.slots import LearnedStart, Slots

KEPT = 2.0  # logit of how much of its state a memory keeps: 0.88, so that nine places all count
RAISED = 1.0  # above the size of any value, so that a ReLU cuts none of them off


def start_as_identity(model: nn.Module) -> None:
    """Start every layer of a known kind as the identity, or as near to it as its form allows."""
    for module in model.modules():
        for kind, start in STARTS.items():
            if isinstance(module, kind):
                start(module)


def _map(into: ProjectedMean) -> None:
    _eye(into.linear)


def _narrowing_map(into: Projection) -> None:
    """A narrower map keeps the first numbers, on both sides the same ones."""
    if into.linear.out_features <= into.linear.in_features:
        nn.init.eye_(into.linear.weight)


def _map_and_branch(into: ProjectionMLP) -> None:
    _eye(into.linear)
    _zero(into.outer)


def _map_then_branch(into: RefinedProjection) -> None:
    _eye(into.linear)
    _zero(_last(into.branch))


def _variations(pie: PIE) -> None:
    _zero(pie.project)  # every variation is the same, and the norm takes it away


def _slots(slots: Slots) -> None:
    """Each slot hears the mean of the places it attends to, added to its small start."""
    _eye(slots.value)
    _eye(slots.out)
    _zero(_last(slots.feed))
    if isinstance(slots.start, LearnedStart):
        with torch.no_grad():
            slots.start.slots.mul_(0.25)


def _memory(memory: GRUMemory) -> None:
    """A running mean of what is read: the candidate is the input, the gates are constant."""
    weights, dim = dict(memory.gru.named_parameters()), memory.gru.hidden_size
    for parameter in weights.values():
        nn.init.zeros_(parameter)
    with torch.no_grad():  # torch has them in the order reset, keep, candidate
        weights["weight_ih_l0"][2 * dim :].copy_(torch.eye(dim, memory.gru.input_size))
        weights["bias_ih_l0"][dim : 2 * dim].fill_(KEPT)


def _attention_layer(layer: SelfAttentionLayer) -> None:
    _zero(layer.outward)
    _zero(_last(layer.feed))


def _entry(transformer: Transformer) -> None:
    _eye(transformer.enter)


def _regions(regions: PlacedRegions) -> None:
    _raised(regions.feature)
    _zero(_last(regions.geometry.feed))  # no place changes its feature


def _words(words: WordsOnly) -> None:
    if isinstance(words.words, nn.Linear):
        _eye(words.words)
    _raised(words.feed)


def _positions(position: IndexPosition) -> None:
    nn.init.zeros_(position.table.weight)


def _pooler(pooler: MeanMLP) -> None:
    """Twice as wide, a ReLU passes on the positive and the negative part, and neither is lost."""
    first, last = _first(pooler.network), _last(pooler.network)
    width = first.in_features
    if first.out_features != 2 * width or last.out_features != width:
        return
    with torch.no_grad():
        first.weight.copy_(torch.cat([torch.eye(width), -torch.eye(width)]))
        last.weight.copy_(torch.cat([torch.eye(width), -torch.eye(width)], dim=1))
    nn.init.zeros_(first.bias)
    nn.init.zeros_(last.bias)


def _raised(network: nn.Sequential) -> None:
    """Lift values above zero before the ReLU and lower them behind it."""
    first, last = _first(network), _last(network)
    if first.in_features == first.out_features == last.out_features:
        _eye(first)
        _eye(last)
        nn.init.constant_(first.bias, RAISED)
        nn.init.constant_(last.bias, -RAISED)


def _first(network: nn.Sequential) -> nn.Linear:
    return _linear(network[0])


def _last(network: nn.Sequential) -> nn.Linear:
    return _linear(network[-1])


def _linear(module: nn.Module) -> nn.Linear:
    assert isinstance(module, nn.Linear)
    return module


def _eye(linear: nn.Linear) -> None:
    """The identity, between spaces of one width; other maps start as they did."""
    if linear.in_features == linear.out_features:
        nn.init.eye_(linear.weight)
        if linear.bias is not None:
            nn.init.zeros_(linear.bias)


def _zero(linear: nn.Linear) -> None:
    nn.init.zeros_(linear.weight)
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)


STARTS: dict[type[nn.Module], Callable[[Any], None]] = {
    Projection: _narrowing_map,
    ProjectedMean: _map,
    ProjectionMLP: _map_and_branch,
    RefinedProjection: _map_then_branch,
    PIE: _variations,
    Slots: _slots,
    GRUMemory: _memory,
    SelfAttentionLayer: _attention_layer,
    Transformer: _entry,
    PlacedRegions: _regions,
    WordsOnly: _words,
    IndexPosition: _positions,
    MeanMLP: _pooler,
}
