"""What a score owes to each word and each region: take them away and score again.

Works for every method, because it asks nothing but the scorer itself. With s the full score,
s₋w without word w, s₋r without region r and s₋wr without both:

- a word's share is ``s − s₋w`` and a region's ``s − s₋r``;
- what a word and a region do together is ``s − s₋w − s₋r + s₋wr``, the part of the word's share
  that is gone once the region is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.words import word_spans
from deixis.methods.matcher import Matcher
from deixis.types import Regions, map_tensors

LONGEST = 48  # words a text may have; each costs one more encoding


@dataclass(frozen=True, slots=True)
class Explanation:
    """Shares of a score; boxes are ``xmin, xmax, ymin, ymax, area``, origin top left."""

    score: float
    spans: tuple[tuple[int, int], ...]  # where each word begins and ends in the text
    words: Float[ndarray, " word"]
    boxes: Float[ndarray, "region 5"]
    regions: Float[ndarray, " region"]
    together: Float[ndarray, "word region"]
    drop: float  # the share lost when the region with the largest share is taken away


@torch.no_grad()
def explain(matcher: Matcher, text: str, image: Path) -> Explanation:
    """Share a score out among the words of a text and the regions of an image."""
    spans = tuple(word_spans(text))
    if len(spans) > LONGEST:
        raise DataError(f"the text has {len(spans)} words; at most {LONGEST} are explained")
    regions = matcher.regions([image])
    images = matcher.model.image(without_each(regions))
    texts = matcher.encode_text([text, *_without_each_word(text, spans)])
    scores = matcher.similarity(images, texts).double().numpy().T
    full, no_word, no_region, neither = scores[0, 0], scores[1:, 0], scores[0, 1:], scores[1:, 1:]
    present = regions.mask[0].numpy()
    boxes = np.zeros((0, 5)) if regions.boxes is None else regions.boxes[0].numpy()[present]
    return Explanation(
        score=float(full),
        spans=spans,
        words=full - no_word,
        boxes=boxes,
        regions=full - no_region,
        together=full - no_word[:, None] - no_region + neither,
        drop=float(np.max(full - no_region, initial=0.0)),
    )


def without_each(regions: Regions) -> Regions:
    """One image as it is, then once without each of its regions."""
    (present,) = torch.nonzero(regions.mask[0], as_tuple=True)
    copies = map_tensors(regions, lambda t: t.expand(1 + len(present), *t.shape[1:]))
    mask = copies.mask.clone()
    mask[torch.arange(1, 1 + len(present)), present] = False
    return Regions(copies.values, mask, copies.boxes, copies.pooled)


def _without_each_word(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    return [f"{text[:start]}{text[end:]}" for start, end in spans]
