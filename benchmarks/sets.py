"""Sets of vectors: scoring beside the bare matrix product, the loss beside its formula."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from benchmarks.harness import Figure, Timed, agreement, interleaved, speed_up
from deixis.heads.l2_normalise import l2_normalise
from deixis.methods.dive import DivE
from deixis.similarity.blocked.blocked_scoring import score_matrix
from deixis.similarity.blocked.topk import top_k
from deixis.similarity.set_similarity import SmoothChamfer
from deixis.types import Batch, Embedding, Outputs, Regions, Sizes, Tokens

IMAGES, TEXTS, PARTS, DIM = 1000, 5000, 4, 1024
SMALL, USUAL = (32, 64), (128, 128)  # images and texts of a batch; the first broadcasts in memory
REPEATS = 5
ALPHA, MARGIN, WEIGHT = 16.0, 0.2, 0.01
TINY = {"IMAGES": 20, "TEXTS": 40, "DIM": 16, "SMALL": (4, 8), "USUAL": (4, 4)}

Form = Callable[[Embedding, Embedding, Tensor], Tensor]  # images, texts, positives → loss
Pairwise = Callable[[Tensor, Tensor], Tensor]


def figures() -> list[Figure]:
    torch.manual_seed(0)
    by_broadcast = partial(plain_loss, cosines=broadcast_cosines, distances=broadcast_distances)
    by_library = partial(plain_loss, cosines=einsum_cosines, distances=torch.cdist)
    return [
        *scoring(),
        *loss_head("broadcasting", by_broadcast, SMALL, 3.0),
        *loss_head("einsum and cdist", by_library, USUAL, 1.0),
    ]


def scoring() -> list[Figure]:
    images, texts = (as_set(l2_normalise(torch.randn(n, PARTS, DIM))) for n in (IMAGES, TEXTS))
    similarity = SmoothChamfer(ALPHA)
    product = torch.empty(IMAGES * PARTS, TEXTS * PARTS)
    left, right = images.vectors.flatten(0, 1), texts.vectors.flatten(0, 1)
    floor, matrix, best = interleaved(
        REPEATS,
        lambda: torch.mm(left, right.T, out=product),
        lambda: score_matrix(similarity, images, texts),
        lambda: top_k(similarity, images, texts, 10),
    )
    table = broadcast_cosines(images.vectors[:20], texts.vectors[:20])
    shape = f"{IMAGES} × {TEXTS}, K = {PARTS}, d = {DIM}"
    return [
        over(f"smooth Chamfer: time over the bare product, {shape}", matrix, floor, 1.25),
        over("smooth Chamfer and the best 10 of each side: time over it", best, floor, 1.4),
        agreement(
            "smooth Chamfer: largest difference",
            matrix.result[:20, :20].flatten().tolist(),
            smooth_chamfer(table).flatten().tolist(),
            1e-5,
        ),
    ]


def over(name: str, ours: Timed, floor: Timed, goal: float) -> Figure:
    detail = f"{ours.seconds:.2f} s beside {floor.seconds:.2f} s"
    return Figure(name, ours.seconds / floor.seconds, goal, "lower", detail=detail)


def loss_head(what: str, baseline: Form, batch: tuple[int, int], goal: float) -> list[Figure]:
    images, texts = batch
    positives = torch.eye(images, dtype=torch.bool).repeat_interleave(texts // images, dim=1)
    inputs = [torch.randn(items, PARTS, DIM) for items in (images, texts, images, texts)]
    ours, theirs = interleaved(
        REPEATS,
        lambda: differentiated(our_loss, inputs, positives),
        lambda: differentiated(baseline, inputs, positives),
    )
    name = f"triplet + MMD + uniformity, forward and backward, {images} × {texts}"
    return [
        speed_up(f"{name}: speed over {what}", ours, theirs, goal),
        agreement("… largest difference", ours.result.tolist(), theirs.result.tolist(), 1e-5),
    ]


def differentiated(form: Form, inputs: list[Tensor], positives: Tensor) -> Tensor:
    """The loss and all its gradients, as one row of numbers."""
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    images, texts = (
        as_set(l2_normalise(leaves[0]), leaves[2]),
        as_set(l2_normalise(leaves[1]), leaves[3]),
    )
    loss = form(images, texts, positives)
    gradients = torch.autograd.grad(loss, leaves)
    return torch.cat([loss.detach().view(1), *(gradient.flatten() for gradient in gradients)])


def as_set(vectors: Tensor, residual: Tensor | None = None) -> Embedding:
    return Embedding(vectors, torch.ones(vectors.shape[:2], dtype=torch.bool), residual=residual)


def our_loss(images: Embedding, texts: Embedding, positives: Tensor) -> Tensor:
    batch = Batch(
        Regions(images.vectors, images.mask),
        Tokens(torch.zeros_like(texts.mask, dtype=torch.long), texts.mask),
        positives,
    )
    out = Outputs(images, texts, SmoothChamfer(ALPHA)(images, texts), batch)
    return torch.stack(list(DivE().objective(Sizes())(out, 0).values())).sum()


def plain_loss(
    images: Embedding,
    texts: Embedding,
    positives: Tensor,
    cosines: Pairwise,
    distances: Pairwise,
) -> Tensor:
    """The loss as its formulas read."""
    scores = smooth_chamfer(cosines(images.vectors, texts.vectors))
    rank = plain_hinge(scores, positives) + plain_hinge(scores.T, positives.T)
    left, right = images.vectors.flatten(0, 1), texts.vectors.flatten(0, 1)
    sides = ((left, left, 1), (left, right, -2), (right, right, 1))
    mmd = sum(sign * (-0.5 * distances(a, b)).exp().mean() for a, b, sign in sides)
    within = plain_uniformity(images.residual) + plain_uniformity(texts.residual)
    return rank + WEIGHT * mmd + WEIGHT * within


def plain_hinge(scores: Tensor, positives: Tensor) -> Tensor:
    query, item = positives.nonzero(as_tuple=True)
    cost = (MARGIN + scores[query] - scores[query, item][:, None]).clamp(min=0)
    return cost.masked_fill(positives[query], 0).amax(dim=1).mean()


def plain_uniformity(residual: Tensor) -> Tensor:
    parts = l2_normalise(residual)
    squares = (parts[:, :, None] - parts[:, None]).square().sum(-1)
    one, other = torch.triu_indices(PARTS, PARTS, 1)
    return (-2 * squares[:, one, other]).exp().mean()


def smooth_chamfer(table: Tensor) -> Tensor:
    forth, back = (ALPHA * table).logsumexp(-1), (ALPHA * table).logsumexp(-2)
    return (forth.mean(-1) + back.mean(-1)) / (2 * ALPHA)


def broadcast_cosines(images: Tensor, texts: Tensor) -> Tensor:
    return (images[:, None, :, None] * texts[None, :, None]).sum(-1)


def broadcast_distances(left: Tensor, right: Tensor) -> Tensor:
    # The root has no slope at nothing: a vector's distance to itself must not meet it.
    squares = (left[:, None] - right).square().sum(-1)
    return torch.where(squares > 0, squares.clamp(min=1e-12).sqrt(), 0.0)


def einsum_cosines(images: Tensor, texts: Tensor) -> Tensor:
    return torch.einsum("ikd,tld->itkl", images, texts)
