"""The formulas of the papers, one pair at a time, as plainly as they can be written."""

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, leaky_relu

from deixis.types import Embedding


def weights(queries: Tensor, contexts: Tensor, temperature: float) -> Tensor:
    """Attention of each query over the contexts (SCAN, clipped and scaled over the queries)."""
    clipped = leaky_relu(queries @ contexts.T, 0.1)
    return torch.softmax(temperature * clipped / (clipped.norm(dim=0) + 1e-8), dim=1)


def scan(queries: Tensor, contexts: Tensor, temperature: float, lse: float | None) -> Tensor:
    found = cosine_similarity(queries, weights(queries, contexts, temperature) @ contexts, dim=1)
    return found.mean() if lse is None else torch.logsumexp(lse * found, 0) / lse


def bfan(queries: Tensor, contexts: Tensor, focus: str) -> Tensor:
    """One direction of BFAN."""
    given = weights(queries, contexts, 20.0)
    share = torch.ones_like(given) if focus == "equal" else given.detach().sqrt()
    above = given * share.sum(1, keepdim=True) - (given * share).sum(1, keepdim=True)
    kept = given * (above > 0)
    attended = kept / kept.sum(1, keepdim=True) @ contexts
    return cosine_similarity(queries, attended, dim=1).mean()


def table(images: Embedding, texts: Embedding, pair) -> Tensor:
    """Score all with all by a function of the parts of one image and one text."""
    rows = [v[m] for v, m in zip(images.vectors, images.mask, strict=True)]
    columns = [w[m] for w, m in zip(texts.vectors, texts.mask, strict=True)]
    return torch.stack([torch.stack([pair(v, w) for w in columns]) for v in rows])


def ragged(items: int, longest: int, dim: int, dtype=torch.float64, shortest=1) -> Embedding:
    """Random unit parts, their number varying per item, garbage under the padding."""
    vectors = torch.nn.functional.normalize(torch.randn(items, longest, dim, dtype=dtype), dim=2)
    counts = torch.randint(shortest, longest + 1, (items, 1))
    mask = torch.arange(longest) < counts
    return Embedding(vectors.masked_fill(~mask.unsqueeze(2), 7.0), mask)
