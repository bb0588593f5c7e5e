"""Phrases grounded in cells: what is where in a picture, learnt from human boxes."""

from dataclasses import dataclass
from typing import ClassVar

from deixis.encoders.encoder import Encoder
from deixis.encoders.image.cell_projection import CellProjection
from deixis.encoders.text.phrase_projection import PhraseProjection
from deixis.heads.all_parts import AllParts, UnitParts
from deixis.losses.grounding import Grounding
from deixis.losses.objective import Objective, Term
from deixis.methods.model import Method, Model, Paper, methods
from deixis.similarity.places.place_map import PlaceMap
from deixis.similarity.places.place_score import PlaceScore
from deixis.types import Sizes


@methods.register("places")
@dataclass(frozen=True)
class PhrasePlaces(Method):
    """A place head: its score is added to the text score of any other run.

    Trained as phrase grounding on the photograph's own cells, without negatives from other
    photographs. *Paper*: the human boxes are Flickr30k Entities'; head, loss and score are ours.
    """

    name: ClassVar[str] = "places"
    paper: ClassVar[Paper] = Paper(
        title="Flickr30k Entities: Collecting Region-to-Phrase Correspondences for Richer "
        "Image-to-Sentence Models",
        authors="Bryan A. Plummer and others",
        year=2015,
        venue="ICCV",
    )
    dim: int = 64  # of cells and phrases
    hidden: int = 768  # width of the phrase perceptron
    members: int = 1  # heads of ``dim`` and ``hidden`` each, whose maps are averaged
    image_dropout: float = 0.3  # channels a picture loses at a step, the same in every cell
    text_dropout: float = 0.1
    scale: float = 5.0  # length of phrase vectors at the start
    weight: float = 2.5  # of the score, beside a text score over 0.05
    discount: float = 0.75  # how much of the phrase's presence anywhere is taken off
    floor: float = 0.1  # bounds what a badly remembered place costs
    spread: float = 0.6  # in cells, of the error of memory that the score averages over; 0: none

    def model(self, sizes: Sizes) -> Model:
        """A linear map of cells, a perceptron over phrases, maps read under regions."""
        phrase = PhraseProjection(
            sizes.text, self.hidden, self.dim, self.text_dropout, self.scale, self.members
        )
        cell = CellProjection(sizes.region, self.dim, self.image_dropout, self.members)
        return Model(
            Encoder(cell, UnitParts()),
            Encoder(phrase, AllParts()),
            PlaceMap(PlaceScore(self.weight, self.discount, self.floor, self.spread)),
        )

    def objective(self, sizes: Sizes) -> Objective:
        """Maps that are high where the human boxes are."""
        return Objective(Term("ground", Grounding(self.members)))
