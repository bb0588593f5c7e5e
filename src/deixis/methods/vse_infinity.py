"""VSE∞: one vector per side, pooled by a learned operator instead of a mean or a last state."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from deixis.encoders.encoder import Body, Encoder
from deixis.encoders.image.thinned_grid import ThinnedGrid
from deixis.encoders.projection import Projection, ProjectionMLP
from deixis.encoders.text.text_body import text_body
from deixis.errors import RunError
from deixis.features.backbones.timm.timm_folder import CAFFE
from deixis.heads.gpo import GPO
from deixis.losses.miners import EveryThenHardest
from deixis.losses.objective import Objective, Term
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, methods
from deixis.methods.released import (
    BERT,
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

UNUSED = "img_enc.mlp.bns.1."
BACKBONE = "img_enc.backbone."
# What is taken from red, green and blue of 0 to 1, and what they are divided by.
IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
DETECTOR = {
    "image_mean": [mean / 255 for mean in (122.7717, 115.9465, 102.9801)],
    "image_std": [1 / 255] * 3,
}


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
        """Read a model of regions or grids, its texts through a two-way GRU or through BERT."""
        only_unit_vectors(found)
        grid = found.has("img_enc.backbone.")
        inner = "img_enc.image_encoder." if grid else "img_enc."
        options = {
            "dim": found.shape(f"{inner}fc.weight")[0],
            **word_width(found),
            "margin": setting(found, "margin", cls.margin),
        }
        names = {
            f"{inner}fc.": "image.body.body.linear." if grid else "image.body.linear.",
            "img_enc.mlp.layers.0.": "image.body.inner.",
            "img_enc.mlp.bns.0.": "image.body.norm.",
            "img_enc.mlp.layers.1.": "image.body.outer.",
            **WORDS,
            "txt_enc.linear.": "text.body.linear.",
            "txt_enc.bert.": BERT,
        }
        for side, ours in ((inner, "image"), ("txt_enc.", "text")):
            names[f"{side}gpool.gru."] = f"{ours}.head.gru."
            names[f"{side}gpool.linear."] = f"{ours}.head.score."
        # The last batch normalisation of the published perceptron is made and never used.
        read = Released(options, region_sizes(found, f"{inner}fc.weight"), names, (UNUSED,))
        return _with_cnn(read, found) if grid else read


def _with_cnn(read: Released, found: Checkpoint) -> Released:
    """The reading of a grid model, whose CNN the published code keeps under three names."""
    source = str(setting(found, "backbone_source", ""))
    detector = "detector" in source
    if not detector and not any(known in source for known in ("imagenet", "wsl", "resnext")):
        raise RunError(
            f"backbone_source is {source!r}: wanted what the CNN inside was trained for, such as "
            "detector, wsl or imagenet; a file of options can say so (--settings)"
        )
    torchvision = "wsl" in source or "resnext" in source
    return replace(
        read,
        options={**read.options, "image": "grid"},
        names={**read.names, f"{BACKBONE}resnet.": CNN},
        left=(*read.left, *(f"{BACKBONE}{name}." for name in ("base", "top", "resnet.fc"))),
        shown={
            "architecture": "resnext101_32x8d" if torchvision else f"{CAFFE}resnet",
            "size": int(256 * setting(found, "input_scale_factor", 1)),
            **(DETECTOR if detector else IMAGENET),
        },
        blue_first=(f"{BACKBONE}resnet.conv1.weight",) if detector else (),
    )
