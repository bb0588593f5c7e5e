"""VSRN: region reasoning by a graph, a GRU over the regions, and caption generation."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Encoder
from deixis.encoders.image.relation_graph import RelationGraph, ScaledOverRegions
from deixis.encoders.projection import Projection
from deixis.encoders.text.gru import GRU
from deixis.heads.gru_memory import GRUMemory
from deixis.heads.pooling import LastPool, MeanPool
from deixis.losses.captioning import Captioning
from deixis.losses.miners import EveryThenHardest
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
from deixis.similarity.similarity import Cosine
from deixis.types import Sizes

# The parts of a reasoning step, as the published code calls them and as they are called here.
BLOCK = {"theta.": "asks.", "phi.": "answers.", "g.": "brings.", "W.0.": "back.", "W.1.": "norm."}


@methods.register("vsrn")
@dataclass(frozen=True)
class VSRN(Method):
    """Graph → memory against GRU → last, cosine; triplet and caption generation.

    ``scale_first`` and ``batch_norm`` are how the published models differ: true and false on
    COCO, false and true on Flickr30K. Published numbers average two models' scores.
    """

    name: ClassVar[str] = "vsrn"
    paper: ClassVar[Paper] = Paper(
        title="Visual Semantic Reasoning for Image-Text Matching",
        authors="Kunpeng Li, Yulun Zhang, Kai Li, Yuanyuan Li, Yun Fu",
        year=2019,
        venue="ICCV",
    )
    dim: int = 2048
    word_dim: int = 300
    margin: float = 0.2
    blocks: int = 4  # steps of reasoning
    scale_first: bool = True  # regions of unit length before the reasoning
    batch_norm: bool = False  # over what the memory ends in
    scale_over: Literal["features", "regions"] = "features"  # regions: the published code's axis
    captions: bool = True  # images must also generate their texts
    caption_dim: int = 512
    warmup: int = 0  # steps over every negative before the hardest alone, against collapse

    def model(self, sizes: Sizes) -> Model:
        """Graph → memory against GRU → last; frozen states are projected and averaged."""
        kind = RelationGraph if self.scale_over == "features" else ScaledOverRegions
        graph = kind(sizes.region, self.dim, blocks=self.blocks, scale_first=self.scale_first)
        image = Encoder(graph, GRUMemory(self.dim, batch_norm=self.batch_norm))
        if sizes.token:
            return Model(image, Encoder(Projection(sizes.token, self.dim), MeanPool()), Cosine())
        text = Encoder(GRU(sizes.vocabulary, self.word_dim, self.dim, both_ways=False), LastPool())
        return Model(image, text, Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Sum hinges over the hardest negatives; the captioner is dropped after it."""
        rank = Term("rank", Triplet(self.margin, EveryThenHardest(self.warmup)))
        if not self.captions:
            return Objective(rank)
        caption = Captioning(self.dim, sizes.vocabulary, self.caption_dim, self.word_dim)
        return Objective(rank, Term("caption", caption))

    @classmethod
    def released(cls, found: Checkpoint) -> Released:
        """Read a model of the published code; the captioner was never saved.

        A last batch normalisation marks the Flickr30K model, which does not scale before reasoning.
        """
        only_unit_vectors(found)
        flickr = found.has("img_enc.bn.")
        options = {
            "dim": found.shape("img_enc.fc.weight")[0],
            **word_width(found),
            "margin": setting(found, "margin", cls.margin),
            "blocks": found.count("img_enc.Rs_GCN_{}."),
            "scale_first": not flickr,
            "batch_norm": flickr,
            "scale_over": "regions",
        }
        names = {
            "img_enc.fc.": "image.body.project.linear.",
            "img_enc.img_rnn.": "image.head.gru.",
            "img_enc.bn.": "image.head.norm.",
            **WORDS,
        }
        for number in range(options["blocks"]):
            published, ours = f"img_enc.Rs_GCN_{number + 1}.", f"image.body.blocks.{number}."
            for theirs, part in BLOCK.items():
                names[published + theirs] = ours + part
        return Released(options, region_sizes(found), names)
