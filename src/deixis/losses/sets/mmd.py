"""Maximum mean discrepancy (MMD): how differently images and texts are distributed."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from deixis.losses.objective import Loss
from deixis.types import Outputs

RATE = 0.5  # the kernel's decay


class MMD(Loss):
    """The MMD between all image elements and all text elements.

    *Formula*: ``mean k(X, X) − 2 mean k(X, Y) + mean k(Y, Y)``, ``k(x, y) = exp(−½ ‖x − y‖)``.
    *Paper*: PVSE 2019 and DivE 2023 as their code has it: the distance is not squared, so the
    kernel called Gaussian there is a Laplacian one.
    """

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Compare the elements of the two sides."""
        images = out.images.vectors[out.images.mask]
        texts = out.texts.vectors[out.texts.mask]
        within = mean_kernel(images, images) + mean_kernel(texts, texts)
        return within - 2 * mean_kernel(images, texts)


def mean_kernel(
    left: Float[Tensor, "left dim"], right: Float[Tensor, "right dim"]
) -> Float[Tensor, ""]:
    """The mean of ``exp(−½ ‖x − y‖)`` over all pairs, by matrix products both ways."""
    return _MeanKernel.apply(left, right)  # type: ignore[no-untyped-call]


class _MeanKernel(torch.autograd.Function):
    """The distance has no slope at zero and its automatic gradient loops over pairs.

    Here the slope at zero is zero, and the gradient is ``Σ_j w_ij (y_j − x_i)``: one more matrix
    product.
    """

    @staticmethod
    def forward(
        ctx: Any,
        left: Float[Tensor, "left dim"],
        right: Float[Tensor, "right dim"],
    ) -> Float[Tensor, ""]:
        norms = left.square().sum(1)[:, None] + right.square().sum(1)
        distance = torch.addmm(norms, left, right.T, alpha=-2).clamp_(min=0).sqrt_()
        ctx.alone = left is right
        if ctx.alone:
            distance.fill_diagonal_(0.0)  # rounding leaves about 1e-3 where the truth is nothing
        kernel = (-RATE * distance).exp_()
        mean = kernel.mean()
        weight = kernel.mul_(RATE / kernel.numel()).div_(distance.clamp_(min=1e-6))
        ctx.save_for_backward(left, right, weight)
        return mean

    @staticmethod
    def backward(
        ctx: Any, grad: Float[Tensor, ""]
    ) -> tuple[Float[Tensor, "left dim"], Float[Tensor, "right dim"] | None]:
        left, right, weight = ctx.saved_tensors
        weight = weight * grad
        if ctx.alone:  # the weights are symmetric: both sides pull alike
            return _pull(left, right, 2 * weight), None
        return _pull(left, right, weight), _pull(right, left, weight.T)


def _pull(
    from_: Float[Tensor, "left dim"],
    to: Float[Tensor, "right dim"],
    weight: Float[Tensor, "left right"],
) -> Float[Tensor, "left dim"]:
    """The weighted sum of the ways from each vector to all others."""
    return torch.addmm(from_ * -weight.sum(dim=1, keepdim=True), weight, to)
