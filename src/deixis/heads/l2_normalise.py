"""L2-normalise, with a finite gradient at zero."""

from jaxtyping import Float
from torch import Tensor


def l2_normalise(vectors: Float[Tensor, "*item dim"]) -> Float[Tensor, "*item dim"]:
    """Scale vectors to length one.

    The square is clamped before the root: at exactly zero the root's slope is infinite, and one
    such vector would turn every gradient into NaN.
    """
    return vectors * vectors.square().sum(dim=-1, keepdim=True).clamp(min=1e-24).rsqrt()
