"""Text + trace: say what, point where; one query vector from words and a pointer's boxes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Encoder
from deixis.encoders.geometry import GeometryCode
from deixis.encoders.image_halves import ImageHalves
from deixis.encoders.placed_regions import PlacedRegions
from deixis.encoders.position import IndexPosition, TimePosition
from deixis.encoders.traced_or_bare import ForgetfulTraced, TracedOrBare
from deixis.encoders.traced_words import EmbedderShape, Words, WordsAndBoxes, WordsWithBoxes
from deixis.encoders.transformer import Transformer
from deixis.errors import RecipeError
from deixis.heads.mlp import MeanMLP
from deixis.losses.base import Objective, Term
from deixis.losses.both_kinds import BothKinds
from deixis.losses.contrastive import Contrastive
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.similarity.base import Cosine

_BODIES: dict[str, type[Words]] = {
    "none": Words,
    "concat": WordsAndBoxes,
    "word": WordsWithBoxes,
}


@methods.register("text_trace")
@dataclass(frozen=True)
class TextTrace(Method):
    """Two transformers, mean + MLP poolers, cosine, softmax over the batch.

    The defaults are the published sizes; recipes for small machines set their own.
    """

    name: ClassVar[str] = "text_trace"
    paper: ClassVar[Paper] = Paper(
        title="Telling the What while Pointing to the Where: "
        "Multimodal Queries for Image Retrieval",
        authors="Soravit Changpinyo, Jordi Pont-Tuset, Vittorio Ferrari, Radu Soricut",
        year=2021,
        venue="ICCV",
    )
    dim: int = 1024
    word_dim: int = 512  # of the embedders of words, boxes and regions
    heads: int = 8
    query_depth: int = 6  # M, layers of the query transformer
    image_depth: int = 6  # L, layers of the image transformer
    fusion: Literal["concat", "word", "none"] = "concat"  # none: text alone
    position: Literal["index", "time"] = "index"
    geometry: GeometryCode = "linear"
    dropout: float = 0.3  # of embedders and poolers
    layer_dropout: float = 0.1  # inside the transformers
    trace_dropout: float = 0.0  # share of traces forgotten in training
    bare_tower: bool = False  # of its own on both sides for queries without a trace
    normalise: bool = False  # batch normalisation in the poolers

    def __post_init__(self) -> None:
        if self.dim % self.heads:
            raise RecipeError(f"dim is {self.dim}, which {self.heads} heads cannot share evenly")
        if self.bare_tower and self.trace_dropout:
            raise RecipeError("a bare tower learns from train.also_bare; trace_dropout must be 0")

    def model(self, sizes: Sizes) -> Model:
        """Regions with boxes against words with a trace."""
        image, query = self._image(sizes), self._query(sizes, self.fusion)
        if self.bare_tower:
            image = ImageHalves(image, self._image(sizes))
            query = TracedOrBare(query, self._query(sizes, "none"))
        elif self.trace_dropout:
            query = ForgetfulTraced(query, self.trace_dropout)
        return Model(image, query, Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """Pick each pair out of the batch, both ways."""
        return Objective(Term("rank", BothKinds() if self.bare_tower else Contrastive()))

    def _image(self, sizes: Sizes) -> Encoder:
        transformer = self._transformer(self.image_depth)
        body = PlacedRegions(sizes.region, self.word_dim, self.geometry, self.dropout, transformer)
        return Encoder(body, self._pooler())

    def _query(self, sizes: Sizes, fusion: str) -> Encoder:
        position = IndexPosition if self.position == "index" else TimePosition
        shape = EmbedderShape(self.word_dim, self.geometry, self.dropout, position)
        body = _BODIES[fusion](sizes.vocabulary, shape, self._transformer(self.query_depth))
        return Encoder(body, self._pooler())

    def _transformer(self, depth: int) -> Transformer:
        return Transformer(self.word_dim, self.dim, depth, self.heads, self.layer_dropout)

    def _pooler(self) -> MeanMLP:
        return MeanMLP(self.dim, 2 * self.dim, self.dropout, normalise=self.normalise)
