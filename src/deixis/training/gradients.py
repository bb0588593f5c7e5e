"""Gradients of one batch: whole, in chunks when it is larger than memory, or over processes.

A contrastive loss needs all embeddings of the batch at once, but not all activations. So the batch
is embedded without a graph, the loss is differentiated with respect to the embeddings alone, and
then each chunk is embedded again, this time with a graph, to carry its share of that gradient to
the weights. Processes split a batch the same way: each embeds its slice, all see all embeddings.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor

from deixis.encoders.encoder import Encoder
from deixis.losses.objective import Objective
from deixis.methods.model import Model
from deixis.training.precision import Precision
from deixis.types import Batch, Embedding, Outputs, Regions, Tokens, map_tensors

Terms = dict[str, Float[Tensor, ""]]


@dataclass(frozen=True)
class Gradients:
    """Adds the gradient of a batch to the weights of a model and its objective."""

    model: Model
    objective: Objective
    chunk: int = 0  # items encoded at once; 0: all of them
    precision: Precision = field(default_factory=Precision)

    def add(self, batch: Batch, step: int, seed: int) -> tuple[Terms, Outputs]:
        """Differentiate one batch; returns the terms of the loss and the outputs."""
        if not self.chunk and not dist.is_initialized():
            torch.manual_seed(seed)
            with self.precision.products():
                out = self.model(batch)
            return self._backward(out, step), out
        images = _Tower(self, self.model.image, batch.images, seed)
        texts = _Tower(self, self.model.text, batch.texts, seed + 1)
        with self.precision.products():
            out = self.model.meet(images.embedding, texts.embedding, batch)
        terms = self._backward(out, step)
        images.carry()
        texts.carry()
        if dist.is_initialized():
            _reduce(self.model, self.objective)
        return terms, out

    def _backward(self, out: Outputs, step: int) -> Terms:
        terms = self.objective(self.precision.full(out), step)
        self.precision.scaled(torch.stack(list(terms.values())).sum()).backward()
        return terms


class _Tower:
    """One side of a batch, embedded now and differentiated later."""

    def __init__(
        self, gradients: Gradients, encoder: Encoder, items: Regions | Tokens, seed: int
    ) -> None:
        self.encoder, self.items, self.seed = encoder, items, seed
        self.precision = gradients.precision
        self.slices = list(_slices(len(items.mask), gradients.chunk))
        with torch.no_grad():
            parts = [self._encode(piece) for piece in self.slices]
        own = _join(parts)
        whole = _gathered(own, len(items.mask)) if dist.is_initialized() else own
        # Leaves of the loss's graph: its gradient stops here until ``carry`` takes it on.
        self.embedding = map_tensors(whole, _as_leaf)

    def carry(self) -> None:
        """Embed each chunk again and push the loss's gradient through it."""
        for piece in self.slices:
            outputs = list(_floats(self._encode(piece)))
            wanted = [leaf.grad for leaf in _floats(self.embedding)]
            pairs = [(o, g[piece]) for o, g in zip(outputs, wanted, strict=True) if g is not None]
            if pairs:
                tensors, gradients = zip(*pairs, strict=True)
                torch.autograd.backward(tensors, gradients)

    def _encode(self, piece: slice) -> Embedding:
        # The same seed both times: dropout must fall on the same places.
        torch.manual_seed(self.seed + 2 * piece.start)
        with self.precision.products():
            return self.encoder(map_tensors(self.items, lambda tensor: tensor[piece]))


def _slices(items: int, chunk: int) -> Iterator[slice]:
    """The share of the items that falls to this process, cut into chunks."""
    rank, world = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
    start, end = rank * items // world, (rank + 1) * items // world
    size = chunk or max(1, end - start)
    for begin in range(start, end, size):
        yield slice(begin, min(begin + size, end))


def _as_leaf(tensor: Tensor) -> Tensor:
    return tensor.detach().requires_grad_() if tensor.is_floating_point() else tensor


def _floats(embedding: Embedding) -> Iterator[Tensor]:
    for name in (each.name for each in fields(embedding)):
        tensor = getattr(embedding, name)
        if tensor is not None and tensor.is_floating_point():
            yield tensor


def _join(parts: list[Embedding]) -> Embedding:
    return _zip_map(parts, torch.cat)


def _gathered(own: Embedding, items: int) -> Embedding:
    """The embeddings of all processes, in the order of the batch."""
    world = dist.get_world_size()
    counts = [(r + 1) * items // world - r * items // world for r in range(world)]

    def gather(tensors: list[Tensor]) -> Tensor:
        (tensor,) = tensors
        padded = tensor.new_zeros(max(counts), *tensor.shape[1:])
        padded[: len(tensor)] = tensor
        received = [torch.empty_like(padded) for _ in counts]
        dist.all_gather(received, padded)
        return torch.cat([part[:count] for part, count in zip(received, counts, strict=True)])

    return _zip_map([own], gather)


def _zip_map(parts: list[Embedding], join: Callable[[list[Tensor]], Tensor]) -> Embedding:
    names = [each.name for each in fields(parts[0]) if getattr(parts[0], each.name) is not None]
    joined = {name: join([getattr(part, name) for part in parts]) for name in names}
    return replace(parts[0], **joined)


def _reduce(model: Model, objective: Objective) -> None:
    """Each process carried its own items' share to the towers, and the whole loss to the rest."""
    towers = {id(p) for tower in (model.image, model.text) for p in tower.parameters()}
    for parameter in (*model.parameters(), *objective.parameters()):
        if not parameter.requires_grad:
            continue
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        dist.all_reduce(parameter.grad)
        if id(parameter) not in towers:
            parameter.grad /= dist.get_world_size()
