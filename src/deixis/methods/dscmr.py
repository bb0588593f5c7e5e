"""DSCMR: both modalities into one space by a shared layer, tied by labels and by pairs."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import nn

from deixis.encoders.encoder import Body, Encoder
from deixis.encoders.relu_layer import ReluLayer
from deixis.encoders.text.word_embedding import WordEmbedding
from deixis.heads.common_space import CommonSpace
from deixis.heads.label_scores import label_count
from deixis.losses.label_losses import LabelDistance
from deixis.losses.objective import Objective, Term
from deixis.losses.pair_consistency import PairDistance, PairLikelihood
from deixis.methods.model import Method, Model, Paper, methods
from deixis.methods.released import Checkpoint, Released
from deixis.similarity.similarity import Cosine
from deixis.types import Sizes


@methods.register("dscmr")
@dataclass(frozen=True)
class DSCMR(Method):
    """A layer per modality, a shared layer and a shared classifier; three loss terms."""

    name: ClassVar[str] = "dscmr"
    paper: ClassVar[Paper] = Paper(
        title="Deep Supervised Cross-Modal Retrieval",
        authors="Liangli Zhen, Peng Hu, Xu Wang, Dezhong Peng",
        year=2019,
        venue="CVPR",
    )
    dim: int = 1024
    hidden: int = 2048
    word_dim: int = 300
    pairs: float = 1e-3  # weight of the pairwise likelihood
    distance: float = 0.1  # weight of the distance of matching pairs
    alike: Literal["count", "any"] = "any"  # count: the paper's, for items of one label each

    def model(self, sizes: Sizes) -> Model:
        """Own layer → shared layer → shared classifier."""
        head = CommonSpace(
            nn.Linear(self.hidden, self.dim), nn.Linear(self.dim, label_count(sizes))
        )
        image = Encoder(ReluLayer(sizes.region, self.hidden), head)
        return Model(image, Encoder(self._words(sizes), head), Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Labels, likelihood of all pairs, distance of matching ones."""
        return Objective(
            Term("labels", LabelDistance()),
            Term("pairs", PairLikelihood(self.alike), self.pairs),
            Term("distance", PairDistance(), self.distance),
        )

    @classmethod
    def released(cls, found: Checkpoint) -> Released:
        """Read a model of the published code, whose texts are one vector each."""
        hidden, region = found.shape("img_net.denseL1.weight")
        labels, dim = found.shape("linearLayer2.weight")
        token = found.shape("text_net.denseL1.weight")[1]
        names: dict[str, str | tuple[str, ...]] = {
            "img_net.denseL1.": "image.body.linear.",
            "text_net.denseL1.": "text.body.linear.",
            "linearLayer.": ("image.head.layer.", "text.head.layer."),
            "linearLayer2.": ("image.head.classifier.", "text.head.classifier."),
        }
        sizes = Sizes(region=region, token=token, labels=labels)
        return Released({"dim": dim, "hidden": hidden, "alike": "count"}, sizes, names)

    def _words(self, sizes: Sizes) -> Body:
        """Frozen states where there are any, else word vectors learned from scratch."""
        if sizes.token:
            return ReluLayer(sizes.token, self.hidden)
        return ReluLayer(
            self.word_dim, self.hidden, WordEmbedding(sizes.vocabulary, self.word_dim, 0.0)
        )
