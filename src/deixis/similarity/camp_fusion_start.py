"""A start of CAMP's fusion at which its score is the dot product of two means."""

import math

import torch
from torch import nn

from deixis.similarity.camp_fusion import GatedFusion

# What lifts every number of a part. With b² tanh(b² / 2) = 1 a gate leaves neither side's own
# squares in what it lets in, only the products of both sides.
LIFT = 1.2423577
OPEN = 1.0 / (1.0 + math.exp(-(LIFT**2)))  # the gate between two numbers at rest
SLOPE = OPEN * (1.0 - OPEN)
OWN = OPEN + 2.0 * LIFT**2 * SLOPE  # how much of a number of either side a gate lets in
PRODUCT = 2.0 * LIFT * SLOPE  # how much of their product
ALIVE = 1.0  # what reaches every ReLU, about
SPREAD = 0.1  # of random weights, which differ between outputs and cancel in their sum


def start_as_dot_product(fusion: GatedFusion) -> None:
    """Start with the score ``mean(x) · mean(y)`` of parts ``LIFT + x`` and ``LIFT + y``.

    A perceptron of a sum of two vectors is no dot product, but gates multiply: what they let in,
    ``σ(v t)(v + t)``, is a constant plus ``OWN (x + y) + PRODUCT x y``, up to third order. Its mean
    over dimensions, taken from every dimension at a weight of ``1 / (2 OWN)``, cancels what the
    residuals bring of x and y. The product is left.
    """
    if isinstance(fusion.text_key, nn.Linear):  # every message is a mean at first
        nn.init.zeros_(fusion.text_key.weight)
    for pool in (fusion.pool_images, fusion.pool_texts):
        nn.init.zeros_(pool.question.weight)
    first, last = _linear(fusion.match[0]), _linear(fusion.match[2])
    width = first.in_features
    for gate in (fusion.fuse_images, fusion.fuse_texts):
        _adding_up(gate.layer, -1.0 / (2.0 * OWN * width), at_rest=2.0 * OPEN * LIFT)
    _adding_up(first, -OWN / PRODUCT, at_rest=2.0 * (LIFT + ALIVE))
    nn.init.constant_(last.weight, 1.0 / width)
    nn.init.constant_(last.bias, -ALIVE)


def _adding_up(layer: nn.Linear, weight: float, at_rest: float) -> None:
    """Every output is the weighted sum of all inputs, and ``ALIVE`` where they are at rest."""
    with torch.no_grad():
        random = SPREAD * (layer.weight - layer.weight.mean(dim=0))
        layer.weight.copy_(random + weight)
        layer.bias.copy_(ALIVE - at_rest * layer.weight.sum(dim=1))


def _linear(module: nn.Module) -> nn.Linear:
    assert isinstance(module, nn.Linear)
    return module
