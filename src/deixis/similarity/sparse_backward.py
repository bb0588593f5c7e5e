"""Scores of every pair, gradients only for the pairs that a loss uses."""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from deixis.similarity.similarity import Pairs, Similarity
from deixis.types import Embedding


def sparse_backward_scores(
    similarity: Similarity, images: Embedding, texts: Embedding
) -> Float[Tensor, "image text"]:
    """Score every image with every text and keep nothing but the scores.

    On the way back the pairs whose score received a gradient are scored once more. With the hardest
    negatives these are three per positive, so neither their memory nor their time grows with the
    square of the batch. Scores and gradients are those of scoring everything at once.
    """
    learned = _learned(similarity)
    sides = images.mask, texts.mask, images.vectors, texts.vectors
    scores: Tensor = _SparseBackward.apply(similarity, *sides, *learned)  # type: ignore[no-untyped-call]
    return scores


def _learned(similarity: Similarity) -> list[Tensor]:
    return [weight for weight in similarity.parameters() if weight.requires_grad]


class _SparseBackward(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        similarity: Similarity,
        v_mask: Bool[Tensor, "image region"],
        w_mask: Bool[Tensor, "text word"],
        v: Float[Tensor, "image region dim"],
        w: Float[Tensor, "text word dim"],
        *learned: Tensor,
    ) -> Float[Tensor, "image text"]:
        ctx.similarity = similarity
        kind = v.device.type
        half = torch.get_autocast_dtype(kind), torch.is_autocast_enabled(kind)
        ctx.products = torch.autocast(kind, half[0], enabled=half[1])  # the same on the way back
        ctx.save_for_backward(v_mask, w_mask, v, w)
        return similarity.score(Pairs(Embedding(v, v_mask), Embedding(w, w_mask), grid=True))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Float[Tensor, "image text"]) -> tuple[Tensor | None, ...]:
        v_mask, w_mask, v, w = ctx.saved_tensors
        image, text = gradient.nonzero(as_tuple=True)
        needed = ctx.needs_input_grad[3:]
        if not len(image):
            return (None,) * (3 + len(needed))
        v, w = (side.detach().requires_grad_() for side in (v, w))
        with torch.enable_grad(), ctx.products:
            sides = Embedding(v, v_mask), Embedding(w, w_mask)
            if 2 * len(image) < gradient.numel():
                scores = ctx.similarity.score_pairs(*sides, image, text)
                gradient = gradient[image, text]
            else:
                scores = ctx.similarity.score(Pairs(*sides, grid=True))
        inputs = (v, w, *_learned(ctx.similarity))
        found = torch.autograd.grad(scores, inputs, gradient, allow_unused=True)
        wanted = (grad if need else None for grad, need in zip(found, needed, strict=True))
        return (None, None, None, *wanted)
