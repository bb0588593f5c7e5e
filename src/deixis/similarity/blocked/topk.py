"""The best items of every query, both ways, without the full matrix."""

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from deixis.similarity.blocked.blocked_scoring import BUDGET, score_blocks
from deixis.similarity.blocked.topk_buffer import Nearest, TopKBuffer
from deixis.similarity.similarity import Similarity
from deixis.types import Embedding


def top_k(
    similarity: Similarity, images: Embedding, texts: Embedding, k: int, budget: int = BUDGET
) -> tuple[Nearest, Nearest]:
    """The k best texts of each image and the k best images of each text, in one pass.

    The full matrix never exists: a block is scored, its candidates join the best so far, and it
    is forgotten. A side with fewer than k items gives all it has. Scores compare as float32.
    """
    texts_of, images_of = (
        TopKBuffer(len(images), len(texts), k),
        TopKBuffer(len(texts), len(images), k),
    )
    with torch.no_grad():
        for here, there, block in score_blocks(similarity, images, texts, budget):
            scores = block.float().numpy(force=True)
            texts_of.add(scores, here, there.start)
            images_of.add(scores.T, there, here.start)
    return texts_of.nearest(), images_of.nearest()


def nearest(scores: Float[ndarray, "query item"], k: int) -> Nearest:
    """The k best items of each row of a ready matrix."""
    best = TopKBuffer(len(scores), scores.shape[1], k)
    best.add(scores.astype(np.float32, copy=False), slice(0, len(scores)), 0)
    return best.nearest()
