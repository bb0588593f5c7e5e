"""Hubness correction: items that are near to everything, measured by a bank of training items."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.similarity.blocked.topk import top_k
from deixis.similarity.similarity import Similarity
from deixis.types import Embedding


def corrected(
    scores: Float[ndarray, "image text"],
    images: Float[ndarray, " image"],
    texts: Float[ndarray, " text"],
) -> Float[ndarray, "image text"]:
    """Take from every score how popular its image and its text are.

    For a text query only the images' popularity changes the order, for an image query only the
    texts'. Popularity comes from a training bank, so each query and each item is corrected on its
    own: nothing is learnt from the other queries or from the gallery.
    """
    return scores - images[:, None] - texts[None, :]


def popularity(
    similarity: Similarity,
    images: Embedding,
    texts: Embedding,
    bank: tuple[Embedding, Embedding],
    k: int,
) -> tuple[Float[ndarray, " image"], Float[ndarray, " text"]]:
    """Half of how near each image is to its k nearest bank texts, and each text to its bank images.

    Taken from a score it gives cross-domain similarity local scaling (Conneau et al. 2018), with
    the training split in place of the gallery: the whole of it would take too much.
    """
    bank_images, bank_texts = bank
    by_image, _ = top_k(similarity, images, bank_texts, k)
    _, by_text = top_k(similarity, bank_images, texts, k)
    return np.mean(by_image.scores, axis=1) / 2, np.mean(by_text.scores, axis=1) / 2
