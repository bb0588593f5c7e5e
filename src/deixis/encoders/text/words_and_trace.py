"""Words and the trace drawn while they were said, as one sequence through a transformer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.positions.box_embedding import (
    BoxCode,
    BoxEmbedding,
    BoxVector,
    bind_to_place,
    feed_forward,
)
from deixis.encoders.positions.sequence_position import evenly_paced_times
from deixis.encoders.text.word_table import WordTable
from deixis.encoders.transformer import Transformer
from deixis.types import Regions, Tokens, Trace

MaskedSequence = tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]


@dataclass(frozen=True)
class EmbedderShape:
    """What the embedders of words and boxes share."""

    dim: int
    geometry: BoxCode
    dropout: float
    position: Callable[[int], nn.Module]  # makes the position code of one stream
    states: int = 0  # width of frozen token states, which then stand for learned word vectors


class WordsOnly(nn.Module):
    """The text-token embedder and the query transformer: a text without any trace.

    *Formula*: ``Transformer(FFN(word + position))``. *Paper*: text + trace 2021, A.1.
    """

    reads_traces: ClassVar[bool] = False

    def __init__(self, vocabulary: int, shape: EmbedderShape, transformer: Transformer) -> None:
        super().__init__()
        learned = not shape.states
        self.words: nn.Module = (
            WordTable(vocabulary, shape.dim) if learned else nn.Linear(shape.states, shape.dim)
        )
        self.position = shape.position(shape.dim)
        self.feed = feed_forward(shape.dim, shape.dim, shape.dim, shape.dropout)
        self.transformer = transformer

    def forward(self, batch: Regions | Tokens) -> MaskedSequence:
        """Read words, and whatever a subclass reads of the trace."""
        assert isinstance(batch, Tokens)
        places, mask = self.embed(batch)
        return self.transformer(places, mask), mask

    def embed(self, batch: Tokens) -> MaskedSequence:
        """The sequence the transformer reads."""
        times = (
            evenly_paced_times(batch.ids.shape[1], batch.ids)
            if batch.times is None
            else batch.times
        )
        words = self.words(batch.ids if isinstance(self.words, nn.Embedding) else batch.values)
        return self.feed(words + self.position(times)), batch.mask


class WordsThenBoxes(WordsOnly):
    """Words followed by the boxes of the trace's time windows: the published query side.

    *Formula*: boxes enter as ``Geometry(box) + position``; every word and every box carries the
    vector of its kind. Which word a box belongs to is left to attention.
    *Paper*: text + trace 2021, A.1; the vectors of kind are ours.
    """

    reads_traces = True

    def __init__(self, vocabulary: int, shape: EmbedderShape, transformer: Transformer) -> None:
        super().__init__(vocabulary, shape, transformer)
        self.geometry: nn.Module = BoxEmbedding(shape.dim, shape.geometry, shape.dropout)
        self.box_position = shape.position(shape.dim)
        self.kinds = nn.Parameter(torch.zeros(2, shape.dim))
        nn.init.normal_(self.kinds, std=0.1)

    def embed(self, batch: Tokens) -> MaskedSequence:
        """Words first, then windows."""
        words, mask = super().embed(batch)
        words = words + self.kinds[0]
        if batch.trace is None:
            return words, mask
        windows = _windows(batch.trace)
        boxes = self.boxes(windows) + self.kinds[1]
        return torch.cat([words, boxes], dim=1), torch.cat([mask, windows.mask], dim=1)

    def boxes(self, windows: Trace) -> Float[Tensor, "item box dim"]:
        """Boxes with their positions, which stay outside the FFN: its input is 5 × dim wide."""
        placed: Tensor = self.geometry(windows.boxes) + self.box_position(windows.times)
        return placed


class WordsThenBoxVectors(WordsThenBoxes):
    """The same, a box entering as a word does: its vector and its position, then the FFN.

    *Formula*: boxes enter as ``FFN(W box + b + position)``.
    *Paper*: text + trace 2021, A.1, where the 5-vector is projected to 512 as a whole.
    """

    def __init__(self, vocabulary: int, shape: EmbedderShape, transformer: Transformer) -> None:
        super().__init__(vocabulary, shape, transformer)
        self.geometry = BoxVector(shape.dim)
        self.feed_boxes = feed_forward(shape.dim, shape.dim, shape.dim, shape.dropout)

    def boxes(self, windows: Trace) -> Float[Tensor, "item box dim"]:
        """Position before the FFN, as words have it."""
        return self.feed_boxes(self.geometry(windows.boxes) + self.box_position(windows.times))


class WordsBoundToBoxes(WordsOnly):
    """Every word bound to the box drawn while it was said; no extra places.

    *Formula*: ``w ⊙ (1 + g)`` with g = Geometry(its box), as regions are bound to theirs; a word
    without a box stays as it is.
    *Paper*: ours, of the family of text + trace 2021.
    """

    reads_traces = True

    def __init__(self, vocabulary: int, shape: EmbedderShape, transformer: Transformer) -> None:
        super().__init__(vocabulary, shape, transformer)
        self.geometry = BoxEmbedding(shape.dim, shape.geometry, shape.dropout)

    def embed(self, batch: Tokens) -> MaskedSequence:
        """One place per word."""
        words, mask = super().embed(batch)
        boxes, there = boxes_of_words(batch.trace, mask)
        where = self.geometry(boxes).masked_fill(~there.unsqueeze(-1), 0.0)
        return bind_to_place(words, where), mask


def _windows(trace: Trace) -> Trace:
    """The boxes that belong to windows of time, moved to the front; the rest is left out."""
    mask = trace.mask & (trace.word < 0)
    longest = max(1, int(mask.sum(dim=1).max()))
    order = torch.argsort(~mask, dim=1, stable=True)[:, :longest]
    index = order.unsqueeze(-1)
    return Trace(
        boxes=trace.boxes.gather(1, index.expand(-1, -1, 5)),
        mask=mask.gather(1, order),
        times=trace.times.gather(1, index.expand(-1, -1, 2)),
        word=trace.word.gather(1, order),
    )


def boxes_of_words(
    trace: Trace | None, words: Bool[Tensor, "item word"]
) -> tuple[Float[Tensor, "item word 5"], Bool[Tensor, "item word"]]:
    """The box of every word, and which words have one."""
    boxes = torch.zeros(*words.shape, 5, device=words.device)
    there = torch.zeros_like(words)
    if trace is not None:
        item, place = (trace.mask & (trace.word >= 0)).nonzero(as_tuple=True)
        word = trace.word[item, place]
        boxes[item, word] = trace.boxes[item, place]
        there[item, word] = True
    return boxes, there
