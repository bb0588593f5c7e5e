"""BFAN: attention both ways, kept only where it exceeds a threshold."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Encoder
from deixis.encoders.projection import Projection
from deixis.encoders.text.text_body import text_body
from deixis.heads.all_parts import UnitParts
from deixis.losses.miners import hardest
from deixis.losses.objective import Objective, Term
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, methods
from deixis.methods.released import (
    WORDS,
    Checkpoint,
    Released,
    only_unit_vectors,
    region_sizes,
    setting,
    word_width,
)
from deixis.similarity.bfan_focal import FocalAttention
from deixis.types import Sizes


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
        """Projected regions; a two-way GRU over words, or projected frozen states; no pooling."""
        image = Encoder(Projection(sizes.region, self.dim), UnitParts())
        words = text_body(sizes, self.word_dim, self.dim)
        similarity = FocalAttention(self.focus, self.temperature)
        return Model(image, Encoder(words, UnitParts()), similarity)

    def objective(self, sizes: Sizes) -> Objective:
        """Sum hinges over the hardest negatives."""
        return Objective(Term("rank", Triplet(self.margin, hardest)))

    @classmethod
    def released(cls, found: Checkpoint) -> Released:
        """Read a model of the published code; its options name the focus."""
        only_unit_vectors(found)
        options = {
            "dim": found.shape("img_enc.fc.weight")[0],
            **word_width(found),
            "margin": setting(found, "margin", cls.margin),
            "focus": setting(found, "focal_type", cls.focus),
            "temperature": float(setting(found, "lambda_softmax", cls.temperature)),
        }
        names = {"img_enc.fc.": "image.body.linear.", **WORDS}
        return Released(options, region_sizes(found), names)
