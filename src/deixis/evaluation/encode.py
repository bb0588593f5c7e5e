"""A dataset through the towers of a model."""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray

from deixis.data.collate import regions_of, tokens_of
from deixis.data.dataset import Dataset
from deixis.methods.model import Model
from deixis.types import Embedding, concatenate

BATCH = 256


def encode(model: Model, dataset: Dataset) -> tuple[Embedding, Embedding]:
    """Embed every image and every text once, in the order of the corpus."""
    model.eval()
    with torch.no_grad():
        images = [model.image(regions_of(dataset.regions, rows)) for rows in _cut(dataset.images)]
        texts = [model.text(tokens_of(dataset.tokens, rows)) for rows in _cut(dataset.texts)]
    return concatenate(images), concatenate(texts)


def _cut(rows: Int[ndarray, " item"]) -> Iterator[Int[ndarray, " some"]]:
    for start in range(0, len(rows), BATCH):
        yield np.asarray(rows[start : start + BATCH])
