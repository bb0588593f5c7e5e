"""How often a sprawling trace makes a model ignore the colour of another thing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool
from numpy import ndarray

from deixis.data.batches.collate import regions_of, tokens_of
from deixis.data.simulated.scenes.colour_decoys import ColourCase
from deixis.errors import EvaluationError
from deixis.features.store.packed import PackedRegions, offsets_of
from deixis.features.trace.narrated_tokens import narrated_tokens
from deixis.features.trace.narration import Narration
from deixis.features.words.vocabulary import Vocabulary
from deixis.methods.model import Model
from deixis.types import Embedding


@dataclass(frozen=True)
class DroppedAttribute:
    """Shares in percent of the narrations that name a colour."""

    asked: int
    kept: float  # put their picture above the one in which that colour is another
    kept_sprawling: float  # the same while the trace of another thing covers most of the canvas
    dropped: float  # of those kept at first, lost to the sprawling trace


def dropped_attribute(
    model: Model, cases: Sequence[ColourCase], vocabulary: Vocabulary
) -> DroppedAttribute:
    """Measure the failure the paper shows: a large stretch of trace, a described colour ignored."""
    if not cases:
        raise EvaluationError("no narration names a colour and names another thing")
    model.eval()
    with torch.no_grad():
        pictures, decoys = _images(model, cases, "picture"), _images(model, cases, "decoy")
        kept, sprawling = (
            _above(model, pictures, decoys, narrations, vocabulary)
            for narrations in (
                [case.narration for case in cases],
                [case.sprawling for case in cases],
            )
        )
    lost = kept & ~sprawling
    return DroppedAttribute(
        asked=len(cases),
        kept=100.0 * float(np.mean(kept)),
        kept_sprawling=100.0 * float(np.mean(sprawling)),
        dropped=100.0 * float(lost.sum() / max(1, kept.sum())),
    )


def _images(
    model: Model, cases: Sequence[ColourCase], which: Literal["picture", "decoy"]
) -> Embedding:
    values, boxes = zip(*(getattr(case, which) for case in cases), strict=True)
    offsets = offsets_of([len(rows) for rows in values])
    packed = PackedRegions(np.concatenate(values), offsets, np.concatenate(boxes))
    return model.image(regions_of(packed, np.arange(len(cases))))


def _above(
    model: Model,
    pictures: Embedding,
    decoys: Embedding,
    narrations: Sequence[Narration],
    vocabulary: Vocabulary,
) -> Bool[ndarray, " case"]:
    tokens = narrated_tokens(narrations, vocabulary)
    texts = model.text(tokens_of(tokens, np.arange(len(narrations))))
    right, wrong = (model.similarity.pairs(images, texts) for images in (pictures, decoys))
    return (right > wrong).numpy()
