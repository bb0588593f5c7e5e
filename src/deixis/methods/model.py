"""What a model and a method are."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from deixis.encoders.encoder import Encoder
from deixis.losses.base import Objective, Term
from deixis.losses.triplet import Triplet
from deixis.mining.miners import hardest
from deixis.registry import Registry
from deixis.similarity.base import Similarity
from deixis.types import Batch, Outputs


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
        images, texts = self.image(batch.images), self.text(batch.texts)
        return Outputs(images, texts, self.similarity(images, texts), batch)


@dataclass(frozen=True)
class Method(ABC):
    """A paper: its options and two builders."""

    name: ClassVar[str]
    paper: ClassVar[Paper]

    @abstractmethod
    def model(self, sizes: Sizes) -> Model:
        """Build the model for features of these sizes."""

    def objective(self, sizes: Sizes) -> Objective:
        """What training lowers; by default the hardest-negative triplet."""
        return Objective(Term("rank", Triplet(0.2, hardest)))


methods: Registry[Method] = Registry("method")
