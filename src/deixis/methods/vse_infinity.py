"""VSE∞: one vector per side, pooled by a learned operator instead of a mean or a last state."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Body, Encoder
from deixis.encoders.image.thinned_grid import ThinnedGrid
from deixis.encoders.projection import Projection, ProjectionMLP
from deixis.encoders.text.text_body import text_body
from deixis.errors import RunError
from deixis.heads.gpo import GPO
from deixis.losses.miners import EveryThenHardest
from deixis.losses.objective import Objective, Term
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, methods
from deixis.methods.released import (
    BERT,
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
    image: Literal["regions", "grid"] = "regions"  # grid: projected only, and thinned in training
    warmup: int = 0  # steps over every negative before the hardest alone; the paper: one epoch

    def model(self, sizes: Sizes) -> Model:
        """Both towers end in the sorted head; texts with frozen states are projected."""
        body: Body = ProjectionMLP(sizes.region, self.dim)
        if self.image == "grid":
            body = ThinnedGrid(Projection(sizes.region, self.dim))
        image = Encoder(body, GPO())
        words = text_body(sizes, self.word_dim, self.dim)
        return Model(image, Encoder(words, GPO()), Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Triplet over every negative first, over the hardest after the warm-up."""
        return Objective(Term("rank", Triplet(self.margin, EveryThenHardest(self.warmup))))

    @classmethod
    def released(cls, found: Checkpoint) -> Released:
        """Read a model of regions, its texts through a two-way GRU or through BERT."""
        only_unit_vectors(found)
        if found.has("img_enc.backbone."):
            # Their ResNets stride in another convolution than timm's and pad otherwise: the same
            # weights would fit and give other features.
            raise RunError("this model reads grids of a CNN of its own, which is not built here")
        options = {
            "dim": found.shape("img_enc.fc.weight")[0],
            **word_width(found),
            "margin": setting(found, "margin", cls.margin),
        }
        names = {
            "img_enc.fc.": "image.body.linear.",
            "img_enc.mlp.layers.0.": "image.body.inner.",
            "img_enc.mlp.bns.0.": "image.body.norm.",
            "img_enc.mlp.layers.1.": "image.body.outer.",
            **WORDS,
            "txt_enc.linear.": "text.body.linear.",
            "txt_enc.bert.": BERT,
        }
        for side, ours in (("img_enc", "image"), ("txt_enc", "text")):
            names[f"{side}.gpool.gru."] = f"{ours}.head.gru."
            names[f"{side}.gpool.linear."] = f"{ours}.head.score."
        # The last batch normalisation of the published perceptron is made and never used.
        return Released(options, region_sizes(found), names, left=("img_enc.mlp.bns.1.",))
