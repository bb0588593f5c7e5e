"""The place head's input for a phrase: its words inside the text, and the phrase alone."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.store.packed import PackedTokens
from deixis.shapes import Float32

CharSpan = tuple[int, int]  # first character of a phrase in its text, and the one after the last


@runtime_checkable
class SpannedText(Protocol):
    """A text backbone with states per word piece and the characters of each piece."""

    def __call__(self, texts: Sequence[str]) -> PackedTokens: ...  # noqa: D102
    def piece_spans(self, texts: Sequence[str]) -> list[list[CharSpan]]: ...  # noqa: D102


Read = Callable[[Sequence[str]], PackedTokens]  # a text backbone, or one with a cache


def phrase_inputs(
    texts: Sequence[str],
    phrases: Sequence[Sequence[CharSpan]],
    backbone: SpannedText,
    read: Read | None = None,
) -> Float32[ndarray, "phrase feature"]:
    """Vectors of the phrases of each text, in order.

    A vector is the mean state of the phrase's pieces inside the text, at unit length, followed by
    the backbone's vector of the phrase on its own. ``read`` may take both from a cache.
    """
    read = read or backbone
    bare = [text[start:end] for text, own in zip(texts, phrases, strict=True) for start, end in own]
    inside = states_of_phrases(texts, phrases, backbone, read(texts))
    known = {phrase: place for place, phrase in enumerate(dict.fromkeys(bare))}
    alone = read(list(known)).pooled
    assert alone is not None, "a text backbone with states has vectors of whole texts"
    rows = np.array([known[phrase] for phrase in bare], dtype=np.int64)
    return np.concatenate([inside, alone[rows]], axis=1)


def states_of_phrases(
    texts: Sequence[str],
    phrases: Sequence[Sequence[CharSpan]],
    backbone: SpannedText,
    tokens: PackedTokens,
) -> Float32[ndarray, "phrase feature"]:
    """The mean state of each phrase's pieces inside its text, at unit length."""
    assert tokens.values is not None, "phrases need a backbone with states"
    found = []
    pieces_of = backbone.piece_spans(texts)
    for place, (pieces, own) in enumerate(zip(pieces_of, phrases, strict=True)):
        for start, end in own:
            inside = [i for i, (a, b) in enumerate(pieces) if a < end and start < b and a < b]
            if not inside:
                what = f"characters {start} to {end} of '{texts[place]}'"
                raise DataError(
                    f"the model reads no word at {what}; point at words nearer its start"
                )
            rows = tokens.offsets[place] + np.array(inside)
            found.append(np.asarray(tokens.values[rows], dtype=np.float32).mean(axis=0))
    means = np.stack(found) if found else np.zeros((0, tokens.values.shape[1]), np.float32)
    return means / np.linalg.norm(means, axis=1, keepdims=True).clip(1e-12)
