"""DSCMR: both modalities into one space by a shared layer, tied by labels and by pairs."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import nn

from deixis.encoders.encoder import Body, Encoder
from deixis.encoders.layer import Layer
from deixis.encoders.words import Words
from deixis.heads.common_space import CommonSpace
from deixis.losses.base import Objective, Term
from deixis.losses.consistency import PairDistance, PairLikelihood
from deixis.losses.labels import LabelDistance
from deixis.methods.labelling import labels_in
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.similarity.base import Cosine


@methods.register("dscmr")
@dataclass(frozen=True)
class DSCMR(Method):
    """A layer a modality, a shared layer and a shared classifier; three terms."""

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
        head = CommonSpace(nn.Linear(self.hidden, self.dim), nn.Linear(self.dim, labels_in(sizes)))
        image = Encoder(Layer(sizes.region, self.hidden), head)
        return Model(image, Encoder(self._words(sizes), head), Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Labels, likelihood of all pairs, distance of matching ones."""
        return Objective(
            Term("labels", LabelDistance()),
            Term("pairs", PairLikelihood(self.alike), self.pairs),
            Term("distance", PairDistance(), self.distance),
        )

    def _words(self, sizes: Sizes) -> Body:
        """Frozen states where there are any, else word vectors learned from scratch."""
        if sizes.token:
            return Layer(sizes.token, self.hidden)
        return Layer(self.word_dim, self.hidden, Words(sizes.vocabulary, self.word_dim, 0.0))
