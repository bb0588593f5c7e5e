"""A method of your own, from a class to a table: a mean of words beside a mean of regions.

python examples/add_a_method.py [IMAGES]
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import deixis
from deixis.encoders.encoder import Encoder
from deixis.encoders.projection import Projection
from deixis.encoders.text.word_embedding import WordEmbedding
from deixis.heads.pooling import MeanPool
from deixis.losses.infonce import InfoNCE
from deixis.losses.objective import Objective, Term
from deixis.methods.model import Model, Paper
from deixis.similarity.similarity import Cosine
from deixis.types import Sizes


@deixis.register("bag_of_words")
@dataclass(frozen=True)
class BagOfWords(deixis.Method):
    """Texts without order: the mean of their words' vectors."""

    name: ClassVar[str] = "bag_of_words"
    paper: ClassVar[Paper] = Paper("Bags of words", "you", 2025, "your machine")
    dim: int = 64

    def model(self, sizes: Sizes) -> Model:
        """Two means and a cosine."""
        image = Encoder(Projection(sizes.region, self.dim), MeanPool())
        text = Encoder(WordEmbedding(sizes.vocabulary, self.dim, dropout=0.0), MeanPool())
        return Model(image, text, Cosine())

    def objective(self, sizes: Sizes) -> Objective:
        """A softmax over the batch."""
        return Objective(Term("rank", InfoNCE()))


RECIPE = {
    "title": "Bags of words against VSE++",
    "data": {"image": "regions"},
    "train": {"length": "4 epochs", "batch": 32, "lr": 2e-3},
    "row": [{"method": {"name": "bag_of_words"}}, {"method": {"name": "vsepp", "dim": 64}}],
}


def main(images: int = 400) -> str:
    """Run the recipe; a file with the same keys does the same by `deixis table`."""
    recipe = deixis.Recipe.of("mine", RECIPE | {"data": {"image": "regions", "size": images}})
    with TemporaryDirectory() as folder:
        table = recipe.run(Path(folder)).markdown()
    print(table)
    return table


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
