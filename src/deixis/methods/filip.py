"""FILIP with pointing: words bound to the boxes drawn for them, each looking for its region."""

from dataclasses import dataclass
from typing import ClassVar

from deixis.encoders.encoder import Encoder
from deixis.encoders.image.regions_with_places import RegionsWithPlaces
from deixis.encoders.positions.sequence_position import IndexPosition
from deixis.encoders.text.words_and_trace import EmbedderShape, WordsOnly
from deixis.encoders.text.words_with_places import WordsWithPlaces
from deixis.encoders.transformer import Transformer
from deixis.heads.all_parts import AllParts
from deixis.losses.objective import Objective, Term
from deixis.losses.traced_and_untraced import TracedAndUntraced
from deixis.methods.model import Method, Model, Paper, methods
from deixis.similarity.late_interaction import LateInteraction
from deixis.types import Sizes


@methods.register("filip")
@dataclass(frozen=True)
class FILIP(Method):
    """Two small transformers that keep every region and word; late interaction; softmax.

    The paper trains both towers from pixels and word pieces, at scale. Here regions and words bring
    their boxes, as in text + trace 2021, so that one model answers with and without pointing.
    """

    name: ClassVar[str] = "filip"
    paper: ClassVar[Paper] = Paper(
        title="FILIP: Fine-grained Interactive Language-Image Pre-Training",
        authors="Lewei Yao, Runhui Huang, Lu Hou, Guansong Lu, Minzhe Niu, Hang Xu, Xiaodan Liang, "
        "Zhenguo Li, Xin Jiang, Chunjing Xu",
        year=2022,
        venue="ICLR",
    )
    dim: int = 256  # of what a region shows and a word names
    place_dim: int = 64  # of where it is
    word_dim: int = 256  # of the query transformer
    heads: int = 4
    query_depth: int = 2  # layers of the query transformer
    dropout: float = 0.1

    def model(self, sizes: Sizes) -> Model:
        """Regions with boxes against words with the boxes drawn for them, all kept."""
        regions = RegionsWithPlaces(sizes.region, self.dim, self.place_dim, self.dropout)
        shape = EmbedderShape(self.word_dim, "linear", self.dropout, IndexPosition, sizes.token)
        layers = Transformer(
            self.word_dim, self.word_dim, self.query_depth, self.heads, self.dropout
        )
        spoken = WordsOnly(sizes.vocabulary, shape, layers)
        words = WordsWithPlaces(spoken, self.word_dim, self.dim, self.place_dim)
        return Model(Encoder(regions, AllParts()), Encoder(words, AllParts()), LateInteraction())

    def objective(self, sizes: Sizes) -> Objective:
        """Pick each pair out of the batch, queries with and without a trace apart."""
        return Objective(Term("rank", TracedAndUntraced(temperature=1.0)))
