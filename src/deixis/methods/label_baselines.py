"""What semantic sharing is measured against: each modality alone, and both tied by consistency."""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from deixis.encoders.encoder import Body, Encoder
from deixis.encoders.shared import Shared, Transformer
from deixis.heads.labels import Labels
from deixis.losses.base import Objective, Term
from deixis.losses.consistency import PairLikelihood
from deixis.losses.labels import LabelEntropy
from deixis.methods.labelling import image_front, labels_in
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.methods.semantic_sharing import SemanticSharing
from deixis.methods.text_front import text_front
from deixis.similarity.base import Cosine


@methods.register("independent")
@dataclass(frozen=True)
class Independent(Method):
    """Semantic sharing with nothing shared: a transformer and a classifier each, labels alone."""

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
        image = self._tower(image_front(sizes, self.dim), sizes)
        text = self._tower(text_front(sizes, self.word_dim, self.dim), sizes)
        return Model(image, text, Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Labels of both, which is the sum of two losses without a common weight."""
        return Objective(Term("labels", LabelEntropy()))

    def _tower(self, front: Body, sizes: Sizes) -> Encoder:
        size = (self.dim, self.heads, self.layers, self.inner)
        transformer = Transformer.start(*size, self.dropout, self.bert)
        return Encoder(Shared(front, transformer), Labels(nn.Linear(self.dim, labels_in(sizes))))


@methods.register("consistency")
@dataclass(frozen=True)
class Consistency(Independent):
    """Independent towers, tied by what their labels say of every pair.

    *Paper*: "consistency+" of the supplement, η = 0.1. Its loss is not printed; ours is DSCMR's
    pairwise term where sharing any label counts as alike.
    """

    name: ClassVar[str] = "consistency"
    eta: float = 0.1

    def objective(self, sizes: Sizes) -> Objective:
        """Labels, and the tie."""
        return Objective(
            Term("labels", LabelEntropy()), Term("consistency", PairLikelihood(), self.eta)
        )
