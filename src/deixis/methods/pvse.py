"""PVSE: several vectors an image and a text, matched by the pair that agrees best."""

from dataclasses import dataclass
from typing import ClassVar

from deixis.encoders.encoder import Encoder
from deixis.encoders.frozen import Frozen
from deixis.encoders.words import Words
from deixis.heads.pie import PIE
from deixis.heads.whole import ProjectedMean, ReadThrough
from deixis.losses.base import Objective, Term
from deixis.losses.discrepancy import Discrepancy
from deixis.losses.diversity import Diversity
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.mining.miners import EveryThenHardest
from deixis.similarity.sets import BestPair


@methods.register("pvse")
@dataclass(frozen=True)
class PVSE(Method):
    """Attentions over grid cells and words vary the whole item; the best pair is the score."""

    name: ClassVar[str] = "pvse"
    paper: ClassVar[Paper] = Paper(
        title="Polysemous Visual-Semantic Embedding for Cross-Modal Retrieval",
        authors="Yale Song, Mohammad Soleymani",
        year=2019,
        venue="CVPR",
    )
    dim: int = 1024
    word_dim: int = 300
    parts: int = 2
    margin: float = 0.1
    discrepancy: float = 0.01  # weight of the MMD term
    diversity: float = 0.1  # weight of the Gram term
    dropout: float = 0.0
    warmup: int = 0  # steps over every negative before the hardest alone

    def model(self, sizes: Sizes) -> Model:
        """Raw cells → PIE against word vectors → PIE."""
        mean = ProjectedMean(sizes.region, self.dim, self.dropout)
        image = Encoder(Frozen(), PIE(sizes.region, self.dim, self.parts, mean, self.dropout))
        end = ReadThrough(self.word_dim, self.dim, self.dropout, joined=True)
        words = Words(sizes.vocabulary, self.word_dim, self.dropout)
        text = Encoder(words, PIE(self.word_dim, self.dim, self.parts, end, self.dropout))
        return Model(image, text, BestPair())

    def objective(self, sizes: Sizes) -> Objective:
        """Rank, spread the sides alike, keep residuals at right angles."""
        return Objective(
            Term("rank", Triplet(self.margin, EveryThenHardest(self.warmup), "mean")),
            Term("discrepancy", Discrepancy(), self.discrepancy),
            Term("diversity", Diversity(), self.diversity),
        )
