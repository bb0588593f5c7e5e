"""Semantic sharing: one transformer and one classifier read both modalities; labels are the tie."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import nn

from deixis.encoders.encoder import Encoder, Head
from deixis.encoders.shared import Shared, Transformer
from deixis.heads.labels import Labels, PlaceLabels
from deixis.losses.base import Loss, Objective, Term
from deixis.losses.consistency import PairDistance, PairLikelihood
from deixis.losses.labels import LabelAgreement, LabelEntropy
from deixis.losses.masked import Masked
from deixis.methods.labelling import image_front, labels_in
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.methods.text_front import text_front
from deixis.similarity.base import Cosine


@methods.register("semantic_sharing")
@dataclass(frozen=True)
class SemanticSharing(Method):
    """Regions and words through one transformer to labels; items are ranked by what they tell.

    Nothing ties an image to its text but the labels both must tell with the same weights.
    """

    name: ClassVar[str] = "semantic_sharing"
    paper: ClassVar[Paper] = Paper(
        title="Rethinking Label-Wise Cross-Modal Retrieval from A Semantic Sharing Perspective",
        authors="Yang Yang, Chubing Zhang, Yi-Chu Xu, Dianhai Yu, De-Chuan Zhan, Jian Yang",
        year=2021,
        venue="IJCAI",
    )
    dim: int = 1024
    word_dim: int = 300
    heads: int = 8
    layers: int = 6
    inner: int = 2048  # width between a block's two linear maps
    dropout: float = 0.1
    bert: str = ""  # a checkpoint (safetensors) whose first layers the transformer starts from
    told: Literal["pooled", "places"] = "pooled"  # places: as the published code tells labels
    masked: float = 0.0  # λ, the weight of telling hidden places; needs train.hide
    consistency: float = 0.0  # weight of the ties of DSCMR, which the paper calls Ours+Con

    def model(self, sizes: Sizes) -> Model:
        """Two fronts, one transformer, one classifier."""
        size = (self.dim, self.heads, self.layers, self.inner)
        transformer = Transformer.start(*size, self.dropout, self.bert)
        kind = Labels if self.told == "pooled" else PlaceLabels
        head: Head = kind(nn.Linear(self.dim, labels_in(sizes)))
        image = Encoder(Shared(image_front(sizes, self.dim), transformer), head)
        text = Encoder(Shared(text_front(sizes, self.word_dim, self.dim), transformer), head)
        return Model(image, text, Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Labels first; what is hidden and what ties the modalities only where it weighs."""
        label: Loss = LabelEntropy() if self.told == "pooled" else LabelAgreement()
        terms = [Term("labels", label)]
        if self.masked:
            masked = Masked(self.dim, sizes.region, sizes.vocabulary)
            terms.append(Term("masked", masked, self.masked))
        if self.consistency:
            terms.append(Term("pairs", PairLikelihood(), self.consistency))
            terms.append(Term("distance", PairDistance(), self.consistency))
        return Objective(*terms)
