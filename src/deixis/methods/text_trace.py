"""Text + trace: one query vector from the words and from the boxes of a pointer's trace."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Encoder, Head
from deixis.encoders.image.dual_image import DualImage
from deixis.encoders.image.placed_regions import ConcatenatedRegions, PlacedRegions
from deixis.encoders.positions.box_embedding import BoxCode, BoxReading
from deixis.encoders.positions.sequence_position import IndexPosition, TimePosition
from deixis.encoders.text.optional_trace import OptionalTrace
from deixis.encoders.text.words_and_trace import (
    EmbedderShape,
    WordsBoundToBoxes,
    WordsOnly,
    WordsThenBoxes,
    WordsThenBoxVectors,
)
from deixis.encoders.transformer import Transformer
from deixis.errors import RecipeError
from deixis.heads.item_summary import PooledSummary
from deixis.heads.mean_mlp import MeanMLP
from deixis.heads.slots import Slots, SlotShape
from deixis.losses.infonce import InfoNCE
from deixis.losses.objective import Objective, Term
from deixis.losses.sets.uniformity import Uniformity
from deixis.losses.traced_and_untraced import TracedAndUntraced
from deixis.methods.model import Method, Model, Paper, methods
from deixis.similarity.set_similarity import SmoothChamfer
from deixis.similarity.similarity import Cosine
from deixis.types import Sizes

# Of sets, as in DivE 2023: α of smooth Chamfer, and the weight of what keeps elements apart.
SHARPNESS, DIVERSITY = 16.0, 0.01

_BODIES: dict[str, type[WordsOnly]] = {
    "none": WordsOnly,
    "concat": WordsThenBoxes,
    "word": WordsBoundToBoxes,
}


@methods.register("text_trace")
@dataclass(frozen=True)
class TextTrace(Method):
    """Two transformers, mean + MLP poolers, cosine, softmax over the batch.

    The defaults are the published sizes; recipes for small machines set their own. ``boxes`` is 5 ×
    512 by default: the paper has 2560 numbers for trace boxes too, which have no features to add.
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
    geometry: BoxCode = "linear"  # of numbers read one by one
    boxes: BoxReading = "scalars"  # how the paper's 2560 is read: 5 × 512, or 2048 + 512
    parts: int = 1  # vectors per image and query; several are scored by smooth Chamfer
    dropout: float = 0.3  # of embedders and poolers
    layer_dropout: float = 0.1  # inside the transformers
    untraced_tower: bool = False  # of its own on both sides for queries without a trace
    normalise: bool = False  # batch normalisation in the poolers

    def __post_init__(self) -> None:
        if self.dim % self.heads:
            raise RecipeError(f"dim is {self.dim}, which {self.heads} heads cannot share evenly")
        if self.parts > 1 and self.untraced_tower:
            raise RecipeError("untraced_tower puts two vectors side by side; it needs parts = 1")
        if self.boxes == "vector" and self.fusion == "word":
            raise RecipeError('fusion "word" binds words to boxes = "scalars"; "concat" has both')

    def model(self, sizes: Sizes) -> Model:
        """Regions with boxes against words with a trace."""
        image, query = self._image(sizes), self._query(sizes, self.fusion)
        if self.untraced_tower:
            image = DualImage(image, self._image(sizes))
            query = OptionalTrace(query, self._query(sizes, "none"))
        return Model(image, query, Cosine() if self.parts == 1 else SmoothChamfer(SHARPNESS))

    def objective(self, sizes: Sizes) -> Objective:
        """Pick each pair out of the batch, both ways; sets also keep their elements apart."""
        rank = Term("rank", TracedAndUntraced() if self.untraced_tower else InfoNCE())
        if self.parts == 1:
            return Objective(rank)
        return Objective(rank, Term("diversity", Uniformity(), DIVERSITY))

    def _image(self, sizes: Sizes) -> Encoder:
        transformer = self._transformer(self.image_depth)
        size, width = sizes.region, self.word_dim
        if self.boxes == "vector":
            joined = ConcatenatedRegions(size, width, self.dropout, transformer)
            return Encoder(joined, self._pooler())
        placed = PlacedRegions(size, width, self.geometry, self.dropout, transformer)
        return Encoder(placed, self._pooler())

    def _query(self, sizes: Sizes, fusion: str) -> Encoder:
        position = IndexPosition if self.position == "index" else TimePosition
        shape = EmbedderShape(self.word_dim, self.geometry, self.dropout, position, sizes.token)
        kind = (
            WordsThenBoxVectors if (fusion, self.boxes) == ("concat", "vector") else _BODIES[fusion]
        )
        body = kind(sizes.vocabulary, shape, self._transformer(self.query_depth))
        return Encoder(body, self._pooler())

    def _transformer(self, depth: int) -> Transformer:
        return Transformer(self.word_dim, self.dim, depth, self.heads, self.layer_dropout)

    def _pooler(self) -> Head:
        pooler = MeanMLP(self.dim, 2 * self.dim, self.dropout, normalise=self.normalise)
        if self.parts == 1:
            return pooler
        shape = SlotShape(
            dim=self.dim, parts=self.parts, head_dim=self.dim // 2, dropout=self.layer_dropout
        )
        return Slots(self.dim, shape, PooledSummary(pooler))
