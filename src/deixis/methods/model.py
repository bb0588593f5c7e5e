"""What a model and a method are."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from deixis.encoders.encoder import Encoder
from deixis.errors import RunError
from deixis.losses.miners import hardest
from deixis.losses.objective import Objective, Term
from deixis.losses.triplet import Triplet
from deixis.methods.released import Checkpoint, Released
from deixis.registry import Registry
from deixis.similarity.similarity import Similarity
from deixis.types import ApartScores, Batch, Embedding, OfflineScores, Outputs, Sizes


@dataclass(frozen=True)
class Paper:
    """Where a method comes from."""

    title: str
    authors: str
    year: int
    venue: str
    url: str = ""


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
        apart = [] if mined.partner is None else [mined.negative, mined.partner]
        pairs = [torch.stack([image, hard_text], 1), torch.stack([hard_image, text], 1), *apart]
        every = torch.cat(pairs)
        of_text, of_image, *others = self.similarity.score_pairs(
            images, texts, every[:, 0], every[:, 1]
        ).chunk(len(pairs))
        match = (batch.positives[pair[:, 0], pair[:, 1]] for pair in apart)
        found = (ApartScores(scores, same) for scores, same in zip(others, match, strict=True))
        return OfflineScores(mined.pair, of_text, of_image, *found)


@dataclass(frozen=True)
class Method(ABC):
    """A paper: its options and two builders.

    ```python
    @deixis.register("mine")
    @dataclass(frozen=True)
    class Mine(deixis.Method):
        name: ClassVar[str] = "mine"
        dim: int = 256  # an option that recipes may set

        def model(self, sizes): ...
    ```
    """

    name: ClassVar[str]
    paper: ClassVar[Paper]

    @property
    def needs_start(self) -> str:
        """Why a row must start from an earlier row's weights; empty if it need not."""
        return ""

    @abstractmethod
    def model(self, sizes: Sizes) -> Model:
        """Build the model for features of these sizes."""

    def objective(self, sizes: Sizes) -> Objective:
        """What training minimises; by default the hardest-negative triplet."""
        return Objective(Term("rank", Triplet(0.2, hardest)))

    @classmethod
    def released(cls, found: Checkpoint) -> Released:
        """Read the authors' checkpoint: which of its names corresponds to which of ours."""
        raise RunError(f"no released checkpoint of method '{cls.name}' is known here")


methods: Registry[Method] = Registry("method")
register = methods.register
"""Register a method under the name that recipes use; a decorator of its dataclass."""
