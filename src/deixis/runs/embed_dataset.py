"""Embed a whole dataset with a model's encoders."""

from collections.abc import Iterable, Iterator

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray

from deixis.data.batches.collate import regions_of, tokens_of
from deixis.data.dataset import Dataset
from deixis.encoders.encoder import Encoder
from deixis.methods.model import Model
from deixis.types import Embedding, Regions, Tokens, concatenate, map_tensors

BATCH = 256


def encode(model: Model, dataset: Dataset) -> tuple[Embedding, Embedding]:
    """Embed every image and every text once, in the order of the corpus."""
    model.eval()
    images = (regions_of(dataset.regions, rows) for rows in _cut(dataset.images))
    texts = (tokens_of(dataset.tokens, rows) for rows in _cut(dataset.texts))
    return _embedded(model.image, images), _embedded(model.text, texts)


def _embedded(encoder: Encoder, batches: Iterable[Regions | Tokens]) -> Embedding:
    """Embed on the encoder's device."""
    device = next((p.device for p in encoder.parameters()), torch.device("cpu"))
    with torch.no_grad():
        there = (map_tensors(batch, lambda tensor: tensor.to(device)) for batch in batches)
        return concatenate([encoder(batch) for batch in there])


def _cut(rows: Int[ndarray, " item"]) -> Iterator[Int[ndarray, " some"]]:
    for start in range(0, len(rows), BATCH):
        yield np.asarray(rows[start : start + BATCH])
