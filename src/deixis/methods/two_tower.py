"""The plain two-tower model: frozen whole-item vectors, a small network per side, InfoNCE."""

from dataclasses import dataclass
from typing import ClassVar

from deixis.encoders.encoder import Body, Encoder
from deixis.encoders.ensemble import Members
from deixis.encoders.pooled_vector import PooledVector, perceptron
from deixis.heads.pooling import MeanPool
from deixis.losses.each_member import EachMember
from deixis.losses.infonce import InfoNCE
from deixis.losses.objective import Objective, Term
from deixis.methods.model import Method, Model, Paper, methods
from deixis.similarity.similarity import Cosine
from deixis.types import Sizes


@methods.register("two_tower")
@dataclass(frozen=True)
class TwoTower(Method):
    """The baseline: no regions, no words, one vector per side."""

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
    members: int = 1  # small models trained side by side; ``dim`` and both hidden are of each

    def model(self, sizes: Sizes) -> Model:
        """A perceptron, or a linear map, over each side's own whole-item vector."""
        image = self._side(sizes.image, self.image_hidden, self.image_dropout)
        text = self._side(sizes.text, self.text_hidden, self.text_dropout)
        return Model(Encoder(image, MeanPool()), Encoder(text, MeanPool()), Cosine())

    def _side(self, size: int, hidden: int, dropout: float) -> Body:
        bodies: list[Body] = [
            PooledVector(size, dropout, perceptron(size, hidden, self.dim, dropout))
            for _ in range(self.members)
        ]
        return bodies[0] if self.members == 1 else Members(bodies)

    def objective(self, sizes: Sizes) -> Objective:
        """Pick every pair out of the batch, both ways."""
        if self.members == 1:
            return Objective(Term("rank", InfoNCE(self.temperature)))
        losses = [InfoNCE(self.temperature) for _ in range(self.members)]
        return Objective(Term("members", EachMember(losses)))
