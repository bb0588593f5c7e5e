"""Scoring in blocks: any similarity over any gallery in bounded memory."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from deixis.similarity.similarity import Similarity
from deixis.types import Embedding

BUDGET = 256 * 2**20  # bytes a block of part-by-part products may take


def score_blocks(
    similarity: Similarity, images: Embedding, texts: Embedding, budget: int = BUDGET
) -> Iterator[tuple[slice, slice, Float[Tensor, "image text"]]]:
    """Score every image with every text, block by block; yields each block with its position."""
    bytes_per_pair = similarity.bytes_per_pair(images, texts)
    rows, columns = block_shape(len(images), len(texts), max(1, budget // bytes_per_pair))
    for top in range(0, len(images), rows):
        here = slice(top, min(top + rows, len(images)))
        some = images.rows(here)
        for left in range(0, len(texts), columns):
            there = slice(left, min(left + columns, len(texts)))
            yield here, there, similarity(some, texts.rows(there))


def score_matrix(
    similarity: Similarity, images: Embedding, texts: Embedding, budget: int = BUDGET
) -> Float[Tensor, "image text"]:
    """Score every image with every text into one matrix.

    The block size changes it by no more than the last bit: a matrix product may add in another
    order when its shape changes.
    """
    scores = images.vectors.new_empty(len(images), len(texts))
    with torch.no_grad():
        for here, there, block in score_blocks(similarity, images, texts, budget):
            scores[here, there] = block
    return scores


def block_shape(images: int, texts: int, pairs: int) -> tuple[int, int]:
    """How many images and texts may meet when ``pairs`` pairs may, as square as it gets."""
    rows = min(images, max(1, int(pairs**0.5)))
    columns = min(texts, max(1, pairs // max(1, rows)))
    return max(1, rows), max(1, columns)
