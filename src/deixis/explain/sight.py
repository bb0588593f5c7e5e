"""What a model saw in one picture with one text, ready to be drawn or kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from deixis.errors import RunError
from deixis.methods.matcher import Matcher
from deixis.similarity.local import Local

Pair = tuple[Path, str]


@dataclass(frozen=True)
class Sight:
    """One picture and one text, and how their parts attended to each other.

    Attention adds up to one over its last axis; gates lie between 0 and 1. What the method does
    not have is None: SCAN attends one way, gates are CAMP's.
    """

    picture: Path
    text: str
    belongs: bool  # a pair as given, or one made by swapping texts
    score: float
    words: tuple[str, ...]
    boxes: Float[ndarray, "region 5"]
    to_words: Float[ndarray, "region word"] | None
    to_regions: Float[ndarray, "word region"] | None
    region_gates: Float[ndarray, " region"] | None
    word_gates: Float[ndarray, " word"] | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON keeps it."""
        kept = vars(self) | {"picture": str(self.picture)}
        return {k: v.tolist() if isinstance(v, ndarray) else v for k, v in kept.items()}


def see(matcher: Matcher, pair: Pair, *, belongs: bool = True) -> Sight:
    """Score a picture with a text, and keep what they attended to."""
    similarity = matcher.model.similarity
    if not isinstance(similarity, Local):
        name = matcher.config.method["name"]
        raise RunError(f"method '{name}' compares whole items: its parts attend to nothing")
    picture, text = pair
    regions = matcher.regions([picture])
    if regions.boxes is None:
        raise RunError(f"features '{matcher.config.image}' have no boxes, so none can be drawn")
    with torch.no_grad():
        sides = matcher.model.image(regions), matcher.encode_text([text])
        found, score = similarity.align(*sides), similarity.pairs(*sides).item()
    return Sight(
        picture=picture,
        text=text,
        belongs=belongs,
        score=score,
        words=matcher.words(text),
        boxes=regions.boxes[0].numpy(),
        to_words=_array(found.to_words),
        to_regions=_array(found.to_regions),
        region_gates=_array(found.region_gates),
        word_gates=_array(found.word_gates),
    )


def see_swapped(matcher: Matcher, pairs: Sequence[Pair]) -> list[Sight]:
    """Every given pair, then every picture with the texts of the others."""
    given = [see(matcher, pair) for pair in pairs]
    swapped = [
        see(matcher, (picture, text), belongs=False)
        for i, (picture, _) in enumerate(pairs)
        for j, (_, text) in enumerate(pairs)
        if i != j
    ]
    return given + swapped


def mean_gate(sights: Sequence[Sight], *, belongs: bool) -> float | None:
    """The mean gate over regions and words of the pairs that belong together, or do not."""
    gates = [
        float(value)
        for sight in sights
        for side in (sight.region_gates, sight.word_gates)
        if sight.belongs == belongs and side is not None
        for value in side
    ]
    return sum(gates) / len(gates) if gates else None


def _array(tensor: Tensor | None) -> ndarray | None:
    return None if tensor is None else tensor.numpy(force=True)
