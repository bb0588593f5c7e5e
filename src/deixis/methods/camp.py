"""CAMP: messages between regions and words, let in through gates, before the two are compared."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Body, Encoder, Head
from deixis.encoders.projection import Projection
from deixis.encoders.rescaled import Rescaled
from deixis.encoders.text.text_body import text_body
from deixis.heads.all_parts import AllParts
from deixis.heads.attention_pool import AttentionPool
from deixis.losses.matching import Matching
from deixis.losses.miners import AnyThenHardest, hardest
from deixis.losses.objective import Objective, Term
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, methods
from deixis.methods.released import (
    WORDS,
    Checkpoint,
    Released,
    only_built,
    region_sizes,
    word_width,
)
from deixis.similarity.camp_fusion import GatedFusion
from deixis.similarity.camp_messages import MessageCosine
from deixis.similarity.camp_released import ReleasedMessages
from deixis.similarity.camp_released_fusion import ReleasedFusion
from deixis.similarity.similarity import Cosine, Similarity
from deixis.types import Sizes

PAPER = Paper(
    title="CAMP: Cross-Modal Adaptive Message Passing for Text-Image Retrieval",
    authors="Zihao Wang, Xihui Liu, Hongsheng Li, Lu Sheng, Junjie Yan, Xiaogang Wang, Jing Shao",
    year=2019,
    venue="ICCV",
)

# The parts of the released similarity, as its code calls them and as they are called here.
MESSAGES = {
    "{}_query_fc.": "query.",
    "{}_key_fc.": "key.",
    "weighted_{}_query_fc.": "message_query.",
    "weighted_{}_key_fc.": "message_key.",
}
FUSION = {
    "fc_1.0.": "fuse_images.",
    "fc_2.0.": "fuse_texts.",
    "final_reduce_1.linear.": "pool_images.ask.",
    "final_reduce_2.linear.": "pool_texts.ask.",
    "fc_out.0.": "match.0.",
    "fc_out.3.": "match.2.",
}


# Of the released configurations; no weight would show that regions and words are scaled after all.
BUILT = {"no_imgnorm": True, "no_txtnorm": True, "use_abs": False}


@methods.register("camp")
@dataclass(frozen=True)
class CAMP(Method):
    """The paper's model and its ablations: Base, without cross-attention, without fusion.

    Without either, an image and a text are one vector each and meet in a dot product, so Base
    ranks a gallery fast and the whole model re-ranks what it found.
    """

    name: ClassVar[str] = "camp"
    paper: ClassVar[Paper] = PAPER
    dim: int = 1024
    word_dim: int = 300
    # Word vectors start uniform within it. Narrow, words are so short beside regions that every
    # gate is a half and the text hardly moves the score.
    word_spread: float = 0.1
    rescale: bool = False  # regions and words of one length, so that a gate sees both alike
    margin: float = 0.2
    attend: bool = True
    fuse: bool = True
    fusion: Literal["sum", "concat"] = "sum"
    ranked: bool = False  # train by hinges; models without fusion always are
    warmup: int = 0  # steps over any negative before the hardest, without which fusion collapses

    def model(self, sizes: Sizes) -> Model:
        """Project → keep against two-way GRU (or frozen states, projected) → keep; Base pools."""
        regions: Body = Projection(sizes.region, self.dim)
        words = text_body(sizes, self.word_dim, self.dim, self.word_spread)
        if self.rescale:
            regions, words = Rescaled(regions), Rescaled(words)
        image, text = Encoder(regions, self._head()), Encoder(words, self._head())
        return Model(image, text, self._similarity())

    def objective(self, sizes: Sizes) -> Objective:
        """Match the hardest negatives, or rank them."""
        miner = AnyThenHardest(self.warmup)
        if self.fuse and not self.ranked:
            return Objective(Term("rank", Matching(miner)))
        return Objective(Term("rank", Triplet(self.margin, miner)))

    def _head(self) -> Head:
        return AllParts() if self.attend or self.fuse else AttentionPool(self.dim)

    def _similarity(self) -> Similarity:
        if self.fuse:
            return GatedFusion(self.dim, self.fusion, attend=self.attend, squash=self.ranked)
        return MessageCosine(self.dim) if self.attend else Cosine()


@methods.register("camp_released")
@dataclass(frozen=True)
class ReleasedCAMP(Method):
    """The model of the released code, in its two stages: messages only, then messages fused."""

    name: ClassVar[str] = "camp_released"
    paper: ClassVar[Paper] = PAPER
    dim: int = 1024
    word_dim: int = 300
    stage: Literal["messages", "fusion"] = "fusion"
    warmup: int = 0  # of the fusion: steps over any negative before the hardest

    @property
    def needs_start(self) -> str:
        """Fusion from random weights ends at chance, as users of the released code found."""
        if self.stage == "messages":
            return ""
        return 'its fusion learns over trained messages alone: start from a row of stage "messages"'

    def model(self, sizes: Sizes) -> Model:
        """Project → keep against two-way GRU (or frozen states, projected) → keep."""
        image = Encoder(Projection(sizes.region, self.dim), AllParts())
        words = text_body(sizes, self.word_dim, self.dim)
        parts = ReleasedMessages if self.stage == "messages" else ReleasedFusion
        return Model(image, Encoder(words, AllParts()), parts(self.dim))

    def objective(self, sizes: Sizes) -> Objective:
        """Rank the cosines of the first stage, match in the second.

        The released code reads cosines as probabilities, which their negative half is not.
        """
        if self.stage == "messages":
            return Objective(Term("rank", Triplet(0.2, hardest)))
        return Objective(Term("rank", Matching(AnyThenHardest(self.warmup))))

    @classmethod
    def released(cls, found: Checkpoint) -> Released:
        """Read a model of the published code, of either stage.

        Its older modules, which have no ``weighted_…`` layers, are another model and are refused.
        """
        found.shape("sim.weighted_img_key_fc.weight")
        only_built(found, BUILT)
        fused = found.has("sim.fc_out.")
        options = {
            "dim": found.shape("img_enc.fc.weight")[0],
            **word_width(found),
            "stage": "fusion" if fused else "messages",
        }
        names = {"img_enc.fc.": "image.body.linear.", **WORDS}
        for side, ours in (("img", "image"), ("txt", "text")):
            for theirs, part in MESSAGES.items():
                names[f"sim.{theirs.format(side)}"] = f"similarity.messages.{ours}.{part}"
        names |= {f"sim.{theirs}": f"similarity.{ours}" for theirs, ours in FUSION.items()}
        return Released(options, region_sizes(found), names)
