"""VSE∞: one vector each side, pooled by a learned operator instead of a mean or a last state."""

from dataclasses import dataclass
from typing import ClassVar

from deixis.encoders.encoder import Encoder
from deixis.encoders.project import ProjectMLP
from deixis.heads.sorted import Sorted
from deixis.losses.base import Objective, Term
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.methods.text_front import text_front
from deixis.mining.miners import EveryThenHardest
from deixis.similarity.base import Cosine


@methods.register("vse_infinity")
@dataclass(frozen=True)
class VSEInfinity(Method):
    """Projection + MLP and a two-way GRU (or frozen token states), both pooled by GPO."""

    name: ClassVar[str] = "vse_infinity"
    paper: ClassVar[Paper] = Paper(
        title="Learning the Best Pooling Strategy for Visual Semantic Embedding",
        authors="Jiacheng Chen, Hexiang Hu, Hao Wu, Yuning Jiang, Changhu Wang",
        year=2021,
        venue="CVPR",
    )
    dim: int = 1024
    word_dim: int = 300
    margin: float = 0.2
    warmup: int = 0  # steps over every negative before the hardest alone; the paper: one epoch

    def model(self, sizes: Sizes) -> Model:
        """Both towers end in the sorted head; texts with frozen states are projected."""
        image = Encoder(ProjectMLP(sizes.region, self.dim), Sorted())
        words = text_front(sizes, self.word_dim, self.dim)
        return Model(image, Encoder(words, Sorted()), Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Triplet over every negative first, over the hardest after the warm-up."""
        return Objective(Term("rank", Triplet(self.margin, EveryThenHardest(self.warmup))))
