"""VSE++: one vector per image and per text, and the hardest negative of the batch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Encoder
from deixis.encoders.projection import Projection, UnitMeanProjection
from deixis.encoders.text.gru import GRU
from deixis.heads.pooling import LastPool, MeanPool
from deixis.losses.miners import EveryThenHardest, every
from deixis.losses.objective import Objective, Term
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, methods
from deixis.methods.released import (
    CNN,
    WORDS,
    Checkpoint,
    Released,
    only_unit_vectors,
    region_sizes,
    setting,
    word_width,
)
from deixis.similarity.similarity import Cosine
from deixis.types import Sizes


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
    image: Literal["regions", "whole"] = "regions"  # whole: averaged at unit length, then projected
    negatives: Literal["hardest", "every"] = "hardest"  # every: the paper's VSE0
    warmup: int = 0  # steps over every negative before the hardest alone, against collapse

    def model(self, sizes: Sizes) -> Model:
        """Project → mean against GRU → last; texts with frozen states are projected, too."""
        project = Projection if self.image == "regions" else UnitMeanProjection
        image = Encoder(project(sizes.region, self.dim), MeanPool())
        if sizes.token:
            return Model(image, Encoder(Projection(sizes.token, self.dim), MeanPool()), Cosine())
        text = Encoder(GRU(sizes.vocabulary, self.word_dim, self.dim, both_ways=False), LastPool())
        return Model(image, text, Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Sum hinges over the hardest negatives, or over every one."""
        miner = EveryThenHardest(self.warmup) if self.negatives == "hardest" else every
        return Objective(Term("rank", Triplet(self.margin, miner)))

    @classmethod
    def released(cls, found: Checkpoint) -> Released:
        """Read a model of precomputed vectors, one region per image, or one over its own CNN."""
        only_unit_vectors(found)
        options = {
            "dim": found.shape("img_enc.fc.weight")[0],
            **word_width(found),
            "margin": setting(found, "margin", cls.margin),
            "image": "whole" if found.has("img_enc.cnn.") else "regions",
            "negatives": "hardest" if setting(found, "max_violation", True) else "every",
        }
        names = {"img_enc.cnn.": CNN, "img_enc.fc.": "image.body.linear.", **WORDS}
        return Released(options, region_sizes(found), names)
