"""The baselines of semantic sharing: each modality alone, and both tied by consistency."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from deixis.encoders.encoder import Body, Encoder
from deixis.encoders.projection import Projection
from deixis.encoders.shared_transformer import SharedBody, SharedTransformer
from deixis.encoders.text.text_body import text_body
from deixis.heads.label_scores import PooledLabels, label_count
from deixis.losses.label_losses import LabelCrossEntropy
from deixis.losses.objective import Objective, Term
from deixis.losses.pair_consistency import PairLikelihood
from deixis.methods.model import Method, Model, Paper, methods
from deixis.methods.semantic_sharing import SemanticSharing
from deixis.similarity.similarity import Cosine
from deixis.types import Sizes


@methods.register("independent")
@dataclass(frozen=True)
class Independent(Method):
    """Semantic sharing without sharing: a transformer and a classifier each, trained on labels."""

    name: ClassVar[str] = "independent"
    paper: ClassVar[Paper] = SemanticSharing.paper
    dim: int = 1024
    word_dim: int = 300
    heads: int = 8
    layers: int = 6
    inner: int = 2048
    dropout: float = 0.1
    bert: str = ""  # a checkpoint (safetensors) whose first layers both transformers start from

    def model(self, sizes: Sizes) -> Model:
        """Two towers that never meet."""
        image = self._tower(Projection(sizes.region, self.dim), sizes)
        text = self._tower(text_body(sizes, self.word_dim, self.dim), sizes)
        return Model(image, text, Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Labels of both, which is the sum of two losses without a common weight."""
        return Objective(Term("labels", LabelCrossEntropy()))

    def _tower(self, front: Body, sizes: Sizes) -> Encoder:
        size = (self.dim, self.heads, self.layers, self.inner)
        transformer = SharedTransformer.start(*size, self.dropout, self.bert)
        return Encoder(
            SharedBody(front, transformer), PooledLabels(nn.Linear(self.dim, label_count(sizes)))
        )


@methods.register("consistency")
@dataclass(frozen=True)
class Consistency(Independent):
    """Independent towers, tied by what their labels say about every pair.

    *Paper*: "consistency+" of the supplement, η = 0.1. Its loss is not printed; ours is DSCMR's
    pairwise term where sharing any label counts as alike.
    """

    name: ClassVar[str] = "consistency"
    consistency: float = 0.1  # η, weight of the pairwise likelihood

    def objective(self, sizes: Sizes) -> Objective:
        """Labels, and the tie."""
        return Objective(
            Term("labels", LabelCrossEntropy()),
            Term("consistency", PairLikelihood(), self.consistency),
        )
