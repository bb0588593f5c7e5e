"""Semantic sharing: one transformer and one classifier for both modalities, trained on labels."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import nn

from deixis.encoders.encoder import Encoder, Head
from deixis.encoders.projection import Projection
from deixis.encoders.shared_transformer import SharedBody, SharedTransformer
from deixis.encoders.text.text_body import text_body
from deixis.heads.label_scores import PlaceLabels, PooledLabels, label_count
from deixis.losses.label_losses import LabelAgreement, LabelCrossEntropy
from deixis.losses.masked_prediction import MaskedPrediction
from deixis.losses.objective import Loss, Objective, Term
from deixis.losses.pair_consistency import PairDistance, PairLikelihood
from deixis.methods.model import Method, Model, Paper, methods
from deixis.similarity.similarity import Cosine
from deixis.types import Sizes


@methods.register("semantic_sharing")
@dataclass(frozen=True)
class SemanticSharing(Method):
    """Regions and words through one transformer; items are ranked by predicted labels.

    An image and its text are tied only by the labels that the same weights predict for both.
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
    labels_from: Literal["pooled", "places"] = "pooled"  # places: the published code
    masked: float = 0.0  # λ, weight of predicting masked places; needs train.mask
    consistency: float = 0.0  # weight of the ties of DSCMR, which the paper calls Ours+Con

    def model(self, sizes: Sizes) -> Model:
        """Two fronts, one transformer, one classifier."""
        size = (self.dim, self.heads, self.layers, self.inner)
        transformer = SharedTransformer.start(*size, self.dropout, self.bert)
        kind = PooledLabels if self.labels_from == "pooled" else PlaceLabels
        head: Head = kind(nn.Linear(self.dim, label_count(sizes)))
        image = Encoder(SharedBody(Projection(sizes.region, self.dim), transformer), head)
        text = Encoder(SharedBody(text_body(sizes, self.word_dim, self.dim), transformer), head)
        return Model(image, text, Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """The label loss; masked prediction and the pairwise terms if their weight is not 0."""
        label: Loss = LabelCrossEntropy() if self.labels_from == "pooled" else LabelAgreement()
        terms = [Term("labels", label)]
        if self.masked:
            masked = MaskedPrediction(self.dim, sizes.region, sizes.vocabulary)
            terms.append(Term("masked", masked, self.masked))
        if self.consistency:
            terms.append(Term("pairs", PairLikelihood(), self.consistency))
            terms.append(Term("distance", PairDistance(), self.consistency))
        return Objective(*terms)
