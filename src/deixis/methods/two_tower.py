"""The plain two-tower model: frozen whole-item vectors, a small map each side, InfoNCE."""

from dataclasses import dataclass
from typing import ClassVar

from deixis.encoders.encoder import Encoder
from deixis.encoders.pooled import Pooled, perceptron
from deixis.heads.pool import Mean
from deixis.losses.base import Objective, Term
from deixis.losses.contrastive import Contrastive
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.similarity.base import Cosine


@methods.register("two_tower")
@dataclass(frozen=True)
class TwoTower(Method):
    """What every other method must beat: no regions, no words, one vector each side."""

    name: ClassVar[str] = "two_tower"
    paper: ClassVar[Paper] = Paper(
        title="Learning Transferable Visual Models From Natural Language Supervision",
        authors="Alec Radford and others",
        year=2021,
        venue="ICML",
    )
    dim: int = 512
    image_hidden: int = 1024  # 0: a linear map
    text_hidden: int = 1024
    image_dropout: float = 0.5
    text_dropout: float = 0.1
    temperature: float = 0.05

    def model(self, sizes: Sizes) -> Model:
        """A perceptron, or a linear map, over each side's own whole-item vector."""
        image = perceptron(sizes.image, self.image_hidden, self.dim, self.image_dropout)
        text = perceptron(sizes.text, self.text_hidden, self.dim, self.text_dropout)
        return Model(
            Encoder(Pooled(sizes.image, self.image_dropout, image), Mean()),
            Encoder(Pooled(sizes.text, self.text_dropout, text), Mean()),
            Cosine(),
        )

    def objective(self, sizes: Sizes) -> Objective:
        """Pick every pair out of the batch, both ways."""
        return Objective(Term("rank", Contrastive(self.temperature)))
