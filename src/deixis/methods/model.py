"""What a model and a method are."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from deixis.encoders.encoder import Encoder
from deixis.losses.base import Objective, Term
from deixis.losses.triplet import Triplet
from deixis.mining.miners import hardest
from deixis.registry import Registry
from deixis.similarity.base import Similarity
from deixis.types import Batch, Embedding, OfflineScores, Outputs


@dataclass(frozen=True)
class Paper:
    """Where a method comes from."""

    title: str
    authors: str
    year: int
    venue: str
    url: str = ""


@dataclass(frozen=True)
class Sizes:
    """What the features dictate; 0 where the features have no such thing."""

    region: int = 0  # width of a region's vector
    image: int = 0  # width of the backbone's whole-image vector
    token: int = 0  # width of frozen token states
    text: int = 0  # width of the backbone's whole-text vector
    vocabulary: int = 0  # words or word pieces
    labels: int = 0


class Model(nn.Module):
    """Two towers and a similarity."""

    def __init__(self, image: Encoder, text: Encoder, similarity: Similarity) -> None:
        super().__init__()
        self.image = image
        self.text = text
        self.similarity = similarity

    def forward(self, batch: Batch) -> Outputs:
        """Embed a batch and let every image meet every text."""
        return self.meet(self.image(batch.images), self.text(batch.texts), batch)

    def meet(self, images: Embedding, texts: Embedding, batch: Batch) -> Outputs:
        """Score an embedded batch; offline negatives meet only those they were mined for."""
        if batch.offline is None:
            return Outputs(images, texts, self.similarity(images, texts), batch)
        own_images = images.rows(slice(0, batch.offline.own_images))
        own_texts = texts.rows(slice(0, batch.offline.own_texts))
        scores = self.similarity(own_images, own_texts)
        offline = self._offline(images, texts, batch)
        return Outputs(own_images, own_texts, scores, batch.own(), offline)

    def _offline(self, images: Embedding, texts: Embedding, batch: Batch) -> OfflineScores:
        mined = batch.offline
        assert mined is not None
        (image, text), (hard_image, hard_text) = mined.pair.T, mined.negative.T
        partner_image, partner_text = mined.partner.T
        scores = self.similarity.among(
            images,
            texts,
            torch.cat([image, hard_image, hard_image, partner_image]),
            torch.cat([hard_text, text, hard_text, partner_text]),
        )
        of_text, of_image, across, partners = scores.chunk(4)
        return OfflineScores(
            mined.pair,
            of_text,
            of_image,
            across,
            partners,
            across_matches=batch.positives[hard_image, hard_text],
            partners_match=batch.positives[partner_image, partner_text],
        )


@dataclass(frozen=True)
class Method(ABC):
    """A paper: its options and two builders."""

    name: ClassVar[str]
    paper: ClassVar[Paper]

    @property
    def needs_start(self) -> str:
        """Why a row must begin with an earlier one's weights; empty where it need not."""
        return ""

    @abstractmethod
    def model(self, sizes: Sizes) -> Model:
        """Build the model for features of these sizes."""

    def objective(self, sizes: Sizes) -> Objective:
        """What training lowers; by default the hardest-negative triplet."""
        return Objective(Term("rank", Triplet(0.2, hardest)))


methods: Registry[Method] = Registry("method")
