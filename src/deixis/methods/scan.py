"""SCAN: score an image and a text by attending from the parts of one to the parts of the other."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Encoder
from deixis.encoders.projection import Projection
from deixis.encoders.text.text_body import text_body
from deixis.errors import RunError
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
from deixis.similarity.scan_attention import CrossAttention
from deixis.types import Sizes

CLIPPED = "clipped_l2norm"  # the published name of the only norm of raw attention in the paper


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
        """Projected regions; a two-way GRU over words, or projected frozen states; no pooling."""
        image = Encoder(Projection(sizes.region, self.dim), UnitParts())
        words = text_body(sizes, self.word_dim, self.dim)
        similarity = CrossAttention(self.direction, self.temperature, self.pool, self.sharpness)
        return Model(image, Encoder(words, UnitParts()), similarity)

    def objective(self, sizes: Sizes) -> Objective:
        """Sum hinges over the hardest negatives."""
        return Objective(Term("rank", Triplet(self.margin, hardest)))

    @classmethod
    def released(cls, found: Checkpoint) -> Released:
        """Read a model of the published code, whose options say how it attends and pools."""
        only_unit_vectors(found)
        pools = {"LogSumExp": "lse", "Mean": "mean"}
        pool = setting(found, "agg_func", "LogSumExp")
        if pool not in pools or setting(found, "raw_feature_norm", CLIPPED) != CLIPPED:
            raise RunError(
                f"this model pools by {pool!r} or has another norm; neither is supported"
            )
        options = {
            "dim": found.shape("img_enc.fc.weight")[0],
            **word_width(found),
            "margin": setting(found, "margin", cls.margin),
            "direction": setting(found, "cross_attn", cls.direction),
            "pool": pools[pool],
            "temperature": float(setting(found, "lambda_softmax", cls.temperature)),
            "sharpness": float(setting(found, "lambda_lse", cls.sharpness)),
        }
        names = {"img_enc.fc.": "image.body.linear.", **WORDS}
        return Released(options, region_sizes(found), names)
