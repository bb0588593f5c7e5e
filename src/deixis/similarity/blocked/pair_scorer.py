"""Chosen pairs of embedded items, scored by any similarity."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.similarity.similarity import Similarity
from deixis.types import Embedding

Images = Int[ndarray, " pair"]
Texts = Int[ndarray, " pair"]
PairScorer = Callable[[Images, Texts], Float[ndarray, " pair"]]


def pair_scorer(similarity: Similarity, images: Embedding, texts: Embedding) -> PairScorer:
    """Any similarity over embedded items, as the slow model of a re-ranking."""

    def score(image: Images, text: Texts) -> Float[ndarray, " pair"]:
        with torch.no_grad():
            pairs = torch.from_numpy(image), torch.from_numpy(text)
            return similarity.score_pairs(images, texts, *pairs).numpy(force=True)

    return score
