"""VSE++: one vector an image, one a text, and the hardest negative of the batch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Encoder
from deixis.encoders.gru import GRU
from deixis.encoders.project import Project
from deixis.heads.pool import Last, Mean
from deixis.losses.base import Objective, Term
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.mining.miners import EveryThenHardest, every
from deixis.similarity.base import Cosine


@methods.register("vsepp")
@dataclass(frozen=True)
class VSEPP(Method):
    """Regions projected and averaged, words through a GRU to its last state, cosine, triplet."""

    name: ClassVar[str] = "vsepp"
    paper: ClassVar[Paper] = Paper(
        title="VSE++: Improving Visual-Semantic Embeddings with Hard Negatives",
        authors="Fartash Faghri, David J. Fleet, Jamie Ryan Kiros, Sanja Fidler",
        year=2018,
        venue="BMVC",
    )
    dim: int = 1024
    word_dim: int = 300
    margin: float = 0.2
    negatives: Literal["hardest", "every"] = "hardest"  # every: the paper's VSE0
    warmup: int = 0  # steps over every negative before the hardest alone, against collapse

    def model(self, sizes: Sizes) -> Model:
        """Project → mean against GRU → last; texts with frozen states are projected, too."""
        image = Encoder(Project(sizes.region, self.dim), Mean())
        if sizes.token:
            return Model(image, Encoder(Project(sizes.token, self.dim), Mean()), Cosine())
        text = Encoder(GRU(sizes.vocabulary, self.word_dim, self.dim, both_ways=False), Last())
        return Model(image, text, Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Sum hinges over the hardest negatives, or over every one."""
        miner = EveryThenHardest(self.warmup) if self.negatives == "hardest" else every
        return Objective(Term("rank", Triplet(self.margin, miner)))
