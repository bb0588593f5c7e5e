"""Attention and gates between one picture and one text, ready to be drawn or saved."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from deixis.errors import DataError, RunError
from deixis.explanation.slot_attention import with_boxes
from deixis.runs.matcher import Matcher
from deixis.similarity.part_level import PartLevel

Pair = tuple[Path, str]


@dataclass(frozen=True)
class AttentionView:
    """How the parts of a picture and of a text attend to each other.

    Attention sums to one over its last axis; gates lie between 0 and 1. What a method does not
    have is None: SCAN attends in one direction, only CAMP has gates.
    """

    picture: Path
    text: str
    given: bool  # False for a pair made by swapping texts
    score: float
    words: tuple[str, ...]
    boxes: Float[ndarray, "region 5"]
    to_words: Float[ndarray, "region word"] | None
    to_regions: Float[ndarray, "word region"] | None
    region_gates: Float[ndarray, " region"] | None
    word_gates: Float[ndarray, " word"] | None

    def to_dict(self) -> dict[str, Any]:
        """Values that JSON can hold."""
        values = vars(self) | {"picture": str(self.picture)}
        return {k: v.tolist() if isinstance(v, ndarray) else v for k, v in values.items()}


def pairs_of(words: Sequence[str]) -> list[Pair]:
    """Pictures and texts that alternate, as a command line gives them."""
    if len(words) % 2:
        raise DataError(f"pictures and texts come in pairs, but there are {len(words)} arguments")
    return [(Path(path), text) for path, text in zip(words[::2], words[1::2], strict=True)]


def attention_view(matcher: Matcher, pair: Pair, *, given: bool = True) -> AttentionView:
    """Score a picture with a text, keeping attention and gates."""
    similarity = matcher.model.similarity
    if not isinstance(similarity, PartLevel):
        name = matcher.config.method["name"]
        raise RunError(f"method '{name}' compares whole items: its parts attend to nothing")
    picture, text = pair
    regions = matcher.regions([picture])
    with torch.no_grad():
        _, boxes = with_boxes(matcher.model.image, regions)
        sides = matcher.model.image(regions), matcher.encode_text([text])
        found, score = similarity.align(*sides), similarity.pairs(*sides).item()
    return AttentionView(
        picture=picture,
        text=text,
        given=given,
        score=score,
        words=matcher.words(text),
        boxes=boxes[0].numpy(),
        to_words=_array(found.to_words),
        to_regions=_array(found.to_regions),
        region_gates=_array(found.region_gates),
        word_gates=_array(found.word_gates),
    )


def attention_views(matcher: Matcher, pairs: Sequence[Pair]) -> list[AttentionView]:
    """Every pair as given, then every picture with the texts of the other pairs."""
    given = [attention_view(matcher, pair) for pair in pairs]
    swapped = [
        attention_view(matcher, (picture, text), given=False)
        for i, (picture, _) in enumerate(pairs)
        for j, (_, text) in enumerate(pairs)
        if i != j
    ]
    return given + swapped


def mean_gate(views: Sequence[AttentionView], *, given: bool) -> float | None:
    """The mean gate over regions and words, of the given pairs or of the swapped ones."""
    gates = [
        float(value)
        for view in views
        for side in (view.region_gates, view.word_gates)
        if view.given == given and side is not None
        for value in side
    ]
    return sum(gates) / len(gates) if gates else None


def _array(tensor: Tensor | None) -> ndarray | None:
    return None if tensor is None else tensor.numpy(force=True)
