"""SCAN: score an image and a text by attending from the parts of one to the parts of the other."""

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
from deixis.similarity.attention import Attention


@methods.register("scan")
@dataclass(frozen=True)
class SCAN(Method):
    """Regions projected, words through a two-way GRU, all kept; attention one way, triplet.

    The paper's settings: ``t2i`` with temperature 9 and sharpness 6, ``i2t`` with temperature 4 and
    sharpness 5 (20 on COCO).
    """

    name: ClassVar[str] = "scan"
    paper: ClassVar[Paper] = Paper(
        title="Stacked Cross Attention for Image-Text Matching",
        authors="Kuang-Huei Lee, Xi Chen, Gang Hua, Houdong Hu, Xiaodong He",
        year=2018,
        venue="ECCV",
    )
    dim: int = 1024
    word_dim: int = 300
    margin: float = 0.2
    direction: Literal["t2i", "i2t"] = "t2i"  # whose parts ask: the words, or the regions
    pool: Literal["lse", "mean"] = "lse"
    temperature: float = 9.0  # λ of the attention
    sharpness: float = 6.0  # λ of the log-sum-exp

    def model(self, sizes: Sizes) -> Model:
        """Project → keep against two-way GRU (or frozen states, projected) → keep."""
        image = Encoder(Project(sizes.region, self.dim), KeepUnit())
        words = text_front(sizes, self.word_dim, self.dim)
        similarity = Attention(self.direction, self.temperature, self.pool, self.sharpness)
        return Model(image, Encoder(words, KeepUnit()), similarity)

    def objective(self, sizes: Sizes) -> Objective:
        """Sum hinges over the hardest negatives."""
        return Objective(Term("rank", Triplet(self.margin, hardest)))
