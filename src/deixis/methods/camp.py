"""CAMP: messages between regions and words, let in through gates, before the two are compared."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Body, Encoder, Head
from deixis.encoders.even import Even
from deixis.encoders.project import Project
from deixis.heads.attended import Attended
from deixis.heads.keep import Keep
from deixis.losses.base import Objective, Term
from deixis.losses.match import Match
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.methods.text_front import text_front
from deixis.mining.miners import AnyThenHardest, hardest
from deixis.similarity.base import Cosine, Similarity
from deixis.similarity.messages import GatedFusion, MessageCosine
from deixis.similarity.released import ReleasedMessages
from deixis.similarity.released_fusion import ReleasedFusion

PAPER = Paper(
    title="CAMP: Cross-Modal Adaptive Message Passing for Text-Image Retrieval",
    authors="Zihao Wang, Xihui Liu, Hongsheng Li, Lu Sheng, Junjie Yan, Xiaogang Wang, Jing Shao",
    year=2019,
    venue="ICCV",
)


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
    even: bool = False  # regions and words of one length, so that a gate sees both alike
    margin: float = 0.2
    attend: bool = True
    fuse: bool = True
    fusion: Literal["sum", "concat"] = "sum"
    ranked: bool = False  # train by hinges; models without fusion always are
    warmup: int = 0  # steps over any negative before the hardest, without which fusion collapses

    def model(self, sizes: Sizes) -> Model:
        """Project → keep against two-way GRU (or frozen states, projected) → keep; Base pools."""
        regions: Body = Project(sizes.region, self.dim)
        words = text_front(sizes, self.word_dim, self.dim, self.word_spread)
        if self.even:
            regions, words = Even(regions), Even(words)
        image, text = Encoder(regions, self._head()), Encoder(words, self._head())
        return Model(image, text, self._similarity())

    def objective(self, sizes: Sizes) -> Objective:
        """Match the hardest negatives, or rank them."""
        miner = AnyThenHardest(self.warmup)
        if self.fuse and not self.ranked:
            return Objective(Term("rank", Match(miner)))
        return Objective(Term("rank", Triplet(self.margin, miner)))

    def _head(self) -> Head:
        return Keep() if self.attend or self.fuse else Attended(self.dim)

    def _similarity(self) -> Similarity:
        if self.fuse:
            return GatedFusion(self.dim, self.fusion, attend=self.attend, squash=self.ranked)
        return MessageCosine(self.dim) if self.attend else Cosine()


@methods.register("camp_released")
@dataclass(frozen=True)
class ReleasedCAMP(Method):
    """The model of the released code, in its two stages: messages alone, then messages fused."""

    name: ClassVar[str] = "camp_released"
    paper: ClassVar[Paper] = PAPER
    dim: int = 1024
    word_dim: int = 300
    stage: Literal["messages", "fusion"] = "fusion"
    warmup: int = 0  # of the fusion: steps over any negative before the hardest

    @property
    def needs_start(self) -> str:
        """Fusion from chance weights ends at chance, as users of the released code found."""
        if self.stage == "messages":
            return ""
        return 'its fusion learns over trained messages alone: start from a row of stage "messages"'

    def model(self, sizes: Sizes) -> Model:
        """Project → keep against two-way GRU (or frozen states, projected) → keep."""
        image = Encoder(Project(sizes.region, self.dim), Keep())
        words = text_front(sizes, self.word_dim, self.dim)
        parts = ReleasedMessages if self.stage == "messages" else ReleasedFusion
        return Model(image, Encoder(words, Keep()), parts(self.dim))

    def objective(self, sizes: Sizes) -> Objective:
        """Rank the cosines of the first stage, match in the second.

        The released code reads cosines as probabilities, which their negative half is not.
        """
        if self.stage == "messages":
            return Objective(Term("rank", Triplet(0.2, hardest)))
        return Objective(Term("rank", Match(AnyThenHardest(self.warmup))))
