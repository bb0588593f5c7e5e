"""The plain two-tower model: frozen whole-item vectors, a perceptron each side, InfoNCE."""

from dataclasses import dataclass
from typing import ClassVar

from deixis.encoders.encoder import Encoder
from deixis.encoders.pooled import PooledMLP
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
    hidden: int = 1024
    dropout: float = 0.3
    temperature: float = 0.07

    def model(self, sizes: Sizes) -> Model:
        """A perceptron over each side's own whole-item vector."""
        image = Encoder(PooledMLP(sizes.image, self.hidden, self.dim, self.dropout), Mean())
        text = Encoder(PooledMLP(sizes.text, self.hidden, self.dim, self.dropout), Mean())
        return Model(image, text, Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Pick every pair out of the batch, both ways."""
        return Objective(Term("rank", Contrastive(self.temperature)))
