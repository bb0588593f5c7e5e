"""DivE: a set of diverse vectors an image and a text, scored by smooth Chamfer."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Encoder
from deixis.encoders.project import Project
from deixis.encoders.refine import Refine
from deixis.encoders.words import Words
from deixis.heads.pool import Max, Mean
from deixis.heads.positions import grid_codes, line_codes
from deixis.heads.slots import Slots, SlotShape
from deixis.heads.whole import ReadThrough, Whole
from deixis.losses.base import Objective, Term
from deixis.losses.discrepancy import Discrepancy
from deixis.losses.triplet import Triplet
from deixis.losses.uniformity import Uniformity
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.mining.miners import EveryThenHardest
from deixis.similarity.sets import (
    BestPair,
    Chamfer,
    MatchProbability,
    SetSimilarity,
    SmoothChamfer,
)


@methods.register("dive")
@dataclass(frozen=True)
class DivE(Method):
    """Slots that compete for places, the whole added to each, and every element in the score."""

    name: ClassVar[str] = "dive"
    paper: ClassVar[Paper] = Paper(
        title="Improving Cross-Modal Retrieval with Set of Diverse Embeddings",
        authors="Dongwon Kim, Namyup Kim, Suha Kwak",
        year=2023,
        venue="CVPR",
    )
    dim: int = 1024
    word_dim: int = 300
    parts: int = 4
    iterations: int = 4
    head_dim: int = 512
    start: Literal["learned", "sampled"] = "learned"
    update: Literal["sum", "gru"] = "sum"
    whole: bool = True  # add the whole image or text to each element
    image: Literal["regions", "grid"] = "regions"
    similarity: Literal["smooth_chamfer", "chamfer", "mil", "mp"] = "smooth_chamfer"
    sharpness: float = 16.0  # α of smooth Chamfer
    margin: float = 0.2
    discrepancy: float = 0.01  # weight of the MMD term
    diversity: float = 0.01  # weight of the uniformity term
    dropout: float = 0.1
    warmup: int = 0  # steps over every negative before the hardest alone

    def model(self, sizes: Sizes) -> Model:
        """Refined regions → slots against words (or frozen states, where there are) → slots."""
        return Model(self._image(sizes), self._text(sizes), self._similarity())

    def objective(self, sizes: Sizes) -> Objective:
        """Rank over all texts of an image, spread the sides alike, keep elements apart."""
        return Objective(
            Term("rank", Triplet(self.margin, EveryThenHardest(self.warmup), "mean")),
            Term("discrepancy", Discrepancy(), self.discrepancy),
            Term("diversity", Uniformity(), self.diversity),
        )

    def _image(self, sizes: Sizes) -> Encoder:
        grid = self.image == "grid"
        body = Refine(sizes.region, self.dim, self.dropout)
        pool = Mean().pool if grid else Max().pool
        head = Slots(self.dim, self._shape(), self._of(pool), grid_codes if grid else None)
        return Encoder(body, head)

    def _text(self, sizes: Sizes) -> Encoder:
        if sizes.token:
            states = Project(sizes.token, self.dim)
            return Encoder(states, Slots(self.dim, self._shape(), self._of(Max().pool), line_codes))
        words = Words(sizes.vocabulary, self.word_dim, self.dropout)
        end = ReadThrough(self.word_dim, self.dim, self.dropout)
        return Encoder(words, Slots(self.word_dim, self._shape(), self._of(end), line_codes))

    def _of(self, whole: Whole) -> Whole | None:
        return whole if self.whole else None

    def _shape(self) -> SlotShape:
        return SlotShape(
            dim=self.dim,
            parts=self.parts,
            iterations=self.iterations,
            head_dim=self.head_dim,
            dropout=self.dropout,
            start=self.start,
            update=self.update,
        )

    def _similarity(self) -> SetSimilarity:
        if self.similarity == "smooth_chamfer":
            return SmoothChamfer(self.sharpness)
        return {"chamfer": Chamfer, "mil": BestPair, "mp": MatchProbability}[self.similarity]()
