"""Whether gates open for what belongs together: the check after training a model with gates."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray

from deixis.data.dataset import Dataset
from deixis.evaluation.probes.scoring_cost import Scoring
from deixis.similarity.part_level import PartLevel

LOOKED_AT = 100  # images, spread over the split


def gate_measures(scoring: Scoring, dataset: Dataset) -> dict[str, float]:
    """Mean gate over regions and words, in percent: of matching pairs, and of swapped ones.

    Some images keep their first text, and then take that of the next of them which does not fit.
    Nothing for a similarity without gates.
    """
    if not isinstance(scoring.similarity, PartLevel):
        return {}
    chosen = zip(("gate", "gate_swapped"), looked_at(dataset), strict=True)
    means = {name: _mean_gate(scoring.similarity, scoring, pairs) for name, pairs in chosen}
    return {name: 100.0 * mean for name, mean in means.items() if mean is not None}


def looked_at(dataset: Dataset) -> tuple[Int[ndarray, "pair 2"], Int[ndarray, "other 2"]]:
    """Images with their own first text, and with another's."""
    owners, first = np.unique(dataset.corpus.owners, return_index=True)
    chosen = np.unique(np.linspace(0, len(owners) - 1, LOOKED_AT).astype(int))
    images, texts = owners[chosen], first[chosen]
    wrong = ~dataset.positives(images, texts)
    # Search from each image's own place on, wrapping around.
    place = (np.arange(len(chosen))[:, None] + np.arange(len(chosen))) % len(chosen)
    turned = np.take_along_axis(wrong, place, axis=1)
    next_wrong = np.take_along_axis(place, turned.argmax(axis=1)[:, None], axis=1)[:, 0]
    swapped = np.stack([images, texts[next_wrong]], axis=1)
    return np.stack([images, texts], axis=1), swapped[turned.any(axis=1)]


def _mean_gate(
    similarity: PartLevel[Any], scoring: Scoring, pairs: Int[ndarray, "pair 2"]
) -> float | None:
    gates = []
    with torch.no_grad():
        for image, text in pairs.tolist():
            one = scoring.of_text(text)
            seen = similarity.align(one.images.rows(slice(image, image + 1)), one.texts)
            gates += [side for side in (seen.region_gates, seen.word_gates) if side is not None]
    return torch.cat(gates).mean().item() if gates else None
