"""BFAN: attention both ways, kept only where it is stronger than what surrounds it."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Encoder
from deixis.encoders.project import Project
from deixis.heads.keep import KeepUnit
from deixis.losses.base import Objective, Term
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.methods.text_front import text_front
from deixis.mining.miners import hardest
from deixis.similarity.focal import FocalAttention


@methods.register("bfan")
@dataclass(frozen=True)
class BFAN(Method):
    """SCAN's towers; both directions of focal attention added up, triplet.

    The paper's full model averages the scores of an ``equal`` and a ``prob`` model.
    """

    name: ClassVar[str] = "bfan"
    paper: ClassVar[Paper] = Paper(
        title="Focus Your Attention: A Bidirectional Focal Attention Network "
        "for Image-Text Matching",
        authors="Chunxiao Liu, Zhendong Mao, An-An Liu, Tianzhu Zhang, Bin Wang, Yongdong Zhang",
        year=2019,
        venue="ACM Multimedia",
    )
    dim: int = 1024
    word_dim: int = 300
    margin: float = 0.2
    focus: Literal["equal", "prob"] = "equal"  # how much each rival counts in the threshold
    temperature: float = 20.0

    def model(self, sizes: Sizes) -> Model:
        """Project → keep against two-way GRU (or frozen states, projected) → keep."""
        image = Encoder(Project(sizes.region, self.dim), KeepUnit())
        words = text_front(sizes, self.word_dim, self.dim)
        similarity = FocalAttention(self.focus, self.temperature)
        return Model(image, Encoder(words, KeepUnit()), similarity)

    def objective(self, sizes: Sizes) -> Objective:
        """Sum hinges over the hardest negatives."""
        return Objective(Term("rank", Triplet(self.margin, hardest)))
