"""VSRN: regions reason about one another, are remembered in order, and must say the text."""

from dataclasses import dataclass
from typing import ClassVar

from deixis.encoders.encoder import Encoder
from deixis.encoders.graph import RelationGraph
from deixis.encoders.gru import GRU
from deixis.heads.memory import Memory
from deixis.heads.pool import Last
from deixis.losses.base import Objective, Term
from deixis.losses.caption import Caption
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.mining.miners import EveryThenHardest
from deixis.similarity.base import Cosine


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
    caption_dim: int = 512
    warmup: int = 0  # steps over every negative before the hardest alone, against collapse

    def model(self, sizes: Sizes) -> Model:
        """Graph → memory against GRU → last."""
        graph = RelationGraph(
            sizes.region, self.dim, blocks=self.blocks, scale_first=self.scale_first
        )
        image = Encoder(graph, Memory(self.dim, batch_norm=self.batch_norm))
        text = Encoder(GRU(sizes.vocabulary, self.word_dim, self.dim, both_ways=False), Last())
        return Model(image, text, Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Sum hinges over the hardest negatives; the captioner is dropped after it."""
        caption = Caption(self.dim, sizes.vocabulary, self.caption_dim, self.word_dim)
        return Objective(
            Term("rank", Triplet(self.margin, EveryThenHardest(self.warmup))),
            Term("caption", caption),
        )
