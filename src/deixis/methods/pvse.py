"""PVSE: several vectors per image and per text, matched by the pair that agrees best."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Encoder
from deixis.encoders.frozen_features import FrozenFeatures
from deixis.encoders.text.word_embedding import WordEmbedding
from deixis.heads.item_summary import BiGRUSummary, LastWordSummary, ProjectedMean
from deixis.heads.pie_net import PIE
from deixis.losses.miners import EveryThenHardest
from deixis.losses.objective import Objective, Term
from deixis.losses.sets.diversity import Diversity
from deixis.losses.sets.mmd import MMD
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, methods
from deixis.methods.released import (
    CNN,
    Checkpoint,
    Released,
    only_unit_vectors,
    region_sizes,
    setting,
    word_width,
)
from deixis.similarity.set_similarity import BestPair
from deixis.types import Sizes

# The parts of PIE-Net, as the published code calls them and as they are called here.
PIE_NET = {
    "attention.w_1.": "hidden.",
    "attention.w_2.": "choose.",
    "fc.": "project.",
    "layer_norm.": "norm.",
}


@methods.register("pvse")
@dataclass(frozen=True)
class PVSE(Method):
    """Attentions over grid cells and words vary the whole item; the best pair is the score."""

    name: ClassVar[str] = "pvse"
    paper: ClassVar[Paper] = Paper(
        title="Polysemous Visual-Semantic Embedding for Cross-Modal Retrieval",
        authors="Yale Song, Mohammad Soleymani",
        year=2019,
        venue="CVPR",
    )
    dim: int = 1024
    word_dim: int = 300
    parts: int = 2
    margin: float = 0.1
    discrepancy: float = 0.01  # weight of the MMD term
    diversity: float = 0.1  # weight of the Gram term
    dropout: float = 0.0
    # Where a text's backward reading is taken: at the first word, which has seen all, or, as the
    # published code has it, at the last word, which has seen itself alone.
    summary: Literal["ends", "last_word"] = "ends"
    warmup: int = 0  # steps over every negative before the hardest alone

    def model(self, sizes: Sizes) -> Model:
        """Raw cells → PIE against word vectors, or frozen states, → PIE."""
        mean = ProjectedMean(sizes.region, self.dim, self.dropout)
        image = Encoder(
            FrozenFeatures(), PIE(sizes.region, self.dim, self.parts, mean, self.dropout)
        )
        if sizes.token:
            whole = ProjectedMean(sizes.token, self.dim, self.dropout)
            head = PIE(sizes.token, self.dim, self.parts, whole, self.dropout)
            return Model(image, Encoder(FrozenFeatures(), head), BestPair())
        kind = BiGRUSummary if self.summary == "ends" else LastWordSummary
        end = kind(self.word_dim, self.dim, self.dropout, joined=True)
        words = WordEmbedding(sizes.vocabulary, self.word_dim, self.dropout)
        text = Encoder(words, PIE(self.word_dim, self.dim, self.parts, end, self.dropout))
        return Model(image, text, BestPair())

    def objective(self, sizes: Sizes) -> Objective:
        """Rank, match the distributions of both sides, keep residuals orthogonal."""
        return Objective(
            Term("rank", Triplet(self.margin, EveryThenHardest(self.warmup), "mean")),
            Term("discrepancy", MMD(), self.discrepancy),
            Term("diversity", Diversity(), self.diversity),
        )

    @classmethod
    def released(cls, found: Checkpoint) -> Released:
        """Read a model of the published code, its CNN included."""
        only_unit_vectors(found)
        options = {
            "dim": found.shape("img_enc.fc.weight")[0],
            **word_width(found),
            "parts": found.shape("img_enc.pie_net.attention.w_2.weight")[0],
            "margin": setting(found, "margin", cls.margin),
            "summary": "last_word",
        }
        names = {
            "img_enc.cnn.": CNN,
            "img_enc.fc.": "image.head.whole.linear.",
            "txt_enc.embed.": "text.body.embed.",
            "txt_enc.rnn.": "text.head.whole.gru.",
        }
        for side, ours in (("img_enc", "image"), ("txt_enc", "text")):
            for theirs, part in PIE_NET.items():
                names[f"{side}.pie_net.{theirs}"] = f"{ours}.head.{part}"
        return Released(options, region_sizes(found), names)
