"""A set of vectors per item, by slots that compete for its places."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.heads.item_summary import ItemSummary
from deixis.heads.l2_normalise import l2_normalise
from deixis.types import Embedding

Boxes = Float[Tensor, "item place 5"]
PositionCodes = Callable[
    [Bool[Tensor, "item place"], int, Boxes | None], Float[Tensor, "item place width"]
]
Attention = Float[Tensor, "item head part place"]
SlotVectors = Float[Tensor, "item part dim"]


@dataclass(frozen=True)
class SlotShape:
    """Sizes of a slot head, and its two departures from slot attention that an ablation undoes."""

    dim: int = 1024
    parts: int = 4
    iterations: int = 4
    heads: int = 4
    head_dim: int = 512
    widen: int = 4  # how much wider the feed-forward layer is than the slots
    dropout: float = 0.1
    start: Literal["learned", "sampled"] = "learned"
    update: Literal["sum", "gru"] = "sum"


@dataclass(frozen=True)
class SlotIteration:
    """One iteration, for inspection: its attention and the slots after it."""

    attention: Attention  # over slots: they compete for each place
    share: Attention  # over places: what a slot's update is made of
    slots: SlotVectors


class Slots(nn.Module):
    """Slot attention: K slots attend to the places of an item several times; the slots are its set.

    *Formula*: T times ``a = softmax over slots (q·k / √width)``, ``s ← s + W_o Σ_n ã_n v_n``,
    ``s ← s + FF(LN(s))``, with ã = a divided by its sum over places; then
    ``e = LN(s)`` (kept as the residual) and ``set = unit(e + LN(whole))``.
    *Paper*: DivE 2023. The published code lets every padded place give 1/K to every slot; here
    padding gives nothing, so an embedding never depends on its batch. ``start="sampled"``,
    ``update="gru"`` and ``whole=None`` each undo one of the paper's changes to slot attention.
    """

    def __init__(
        self,
        size: int,
        shape: SlotShape,
        whole: ItemSummary | None,
        codes: PositionCodes | None = None,
    ) -> None:
        super().__init__()
        dim, inner = shape.dim, shape.heads * shape.head_dim
        self.shape, self.whole, self.codes = shape, whole, codes
        sampled = shape.start == "sampled"
        self.start = SampledStart(shape.parts, dim) if sampled else LearnedStart(shape.parts, dim)
        self.place_norm, self.slot_norm = nn.LayerNorm(size), nn.LayerNorm(dim)
        self.query = nn.Linear(dim, inner, bias=False)
        self.key = nn.Linear(size, inner, bias=False)
        self.value = nn.Linear(size, inner, bias=False)
        self.out = nn.Linear(inner, dim)
        self.update = nn.GRUCell(dim, dim) if shape.update == "gru" else None
        self.dropout = nn.Dropout(shape.dropout)
        self.feed = nn.Sequential(
            nn.LayerNorm(dim),
            nn.Linear(dim, shape.widen * dim),
            nn.GELU(),
            nn.Dropout(shape.dropout),
            nn.Linear(shape.widen * dim, dim),
        )
        self.last_norm = nn.LayerNorm(dim)
        self.whole_norm = nn.LayerNorm(dim) if whole is not None else None

    def forward(
        self,
        places: Float[Tensor, "item place size"],
        mask: Bool[Tensor, "item place"],
        boxes: Boxes | None = None,
    ) -> Embedding:
        """Let the slots settle, then add the whole item to each."""
        for turn in self.iterate(places, mask, boxes):
            slots = turn.slots
        elements = self.last_norm(slots)
        total = elements
        if self.whole is not None and self.whole_norm is not None:
            total = elements + self.whole_norm(self.whole(places, mask)).unsqueeze(1)
        exists = torch.ones(elements.shape[:2], dtype=torch.bool, device=elements.device)
        return Embedding(l2_normalise(total), exists, residual=elements)

    def iterate(
        self,
        places: Float[Tensor, "item place size"],
        mask: Bool[Tensor, "item place"],
        boxes: Boxes | None = None,
    ) -> Iterator[SlotIteration]:
        """The iterations one by one; those that are not kept cost no memory."""
        content = self.place_norm(places)
        place = content
        if self.codes is not None:
            place = content + self.codes(mask, content.shape[2], boxes)
        key, value = self._split(self.key(place)), self._split(self.value(content))
        slots = self.start(places.shape[0])
        for _ in range(self.shape.iterations):
            query = self._split(self.query(self.slot_norm(slots)))
            logits = query @ key.transpose(2, 3) / math.sqrt(self.shape.head_dim)
            attention = self.mask_attention(logits.softmax(dim=2), mask)
            share = attention / (attention.sum(dim=3, keepdim=True) + 1e-7)
            heard = self.dropout(self.out((share @ value).transpose(1, 2).flatten(2)))
            slots = self._updated(slots, heard)
            slots = slots + self.feed(slots)
            yield SlotIteration(attention, share, slots)

    def attention_by_iteration(
        self,
        places: Float[Tensor, "item place size"],
        mask: Bool[Tensor, "item place"],
        boxes: Boxes | None = None,
    ) -> Float[Tensor, "item round part place"]:
        """What share each slot takes from each place, round by round, averaged over heads."""
        shares = [turn.share.mean(dim=1) for turn in self.iterate(places, mask, boxes)]
        return torch.stack(shares, dim=1)

    def mask_attention(self, attention: Attention, mask: Bool[Tensor, "item place"]) -> Attention:
        """Let places that do not exist give nothing."""
        return attention * mask[:, None, None, :]

    def _updated(self, slots: SlotVectors, heard: SlotVectors) -> SlotVectors:
        if self.update is None:
            return slots + heard
        return self.update(heard.flatten(0, 1), slots.flatten(0, 1)).view_as(slots)

    def _split(
        self, vectors: Float[Tensor, "item row inner"]
    ) -> Float[Tensor, "item head row head_dim"]:
        return vectors.unflatten(2, (self.shape.heads, -1)).transpose(1, 2)


class LearnedStart(nn.Module):
    """Slots that begin as learned vectors, each its own."""

    def __init__(self, parts: int, dim: int) -> None:
        super().__init__()
        self.slots = nn.Parameter(torch.randn(parts, dim))

    def forward(self, items: int) -> SlotVectors:
        """The same start for every item."""
        return self.slots.expand(items, -1, -1)


class SampledStart(nn.Module):
    """Slots that begin as draws from one learned Gaussian, as in slot attention.

    In evaluation the draw is fixed, or an item's embedding would change from call to call.
    """

    noise: Float[Tensor, "part dim"]

    def __init__(self, parts: int, dim: int) -> None:
        super().__init__()
        self.mean = nn.Parameter(torch.randn(dim))
        self.log_deviation = nn.Parameter(torch.zeros(dim))
        self.register_buffer("noise", torch.randn(parts, dim))

    def forward(self, items: int) -> SlotVectors:
        """A draw for every slot of every item."""
        noise = self.noise.expand(items, -1, -1)
        if self.training:
            noise = torch.randn_like(noise)
        return self.mean + self.log_deviation.exp() * noise
