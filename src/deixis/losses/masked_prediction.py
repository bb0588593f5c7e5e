"""Predict masked regions and words from their context."""

from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from deixis.errors import RecipeError
from deixis.heads.l2_normalise import l2_normalise
from deixis.losses.objective import Loss
from deixis.types import Embedding, Outputs

TEMPERATURE = 0.1


class MaskedPrediction(Loss):
    """Classify the masked word among all words, the masked region among those of the batch.

    *Formula*: cross-entropy of logits, averaged over masked words, plus the same over masked
    regions, where the logit of a region is the cosine of its feature with the prediction, over 0.1.
    *Needs*: masked batches, and heads that keep the vector of every place.
    *Paper*: semantic sharing 2021, equation 5. There a region's detector class is predicted;
    features without classes are distinguished from one another instead. The published code masks no
    region and takes the entropy of sigmoids, which keeps it near chance.
    """

    def __init__(self, dim: int, region: int, vocabulary: int) -> None:
        super().__init__()
        self.word = nn.Linear(dim, vocabulary)
        self.region = nn.Linear(dim, region)

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Add words and regions; a batch without masked places costs nothing."""
        hidden = out.batch.masked
        if hidden is None:
            raise RecipeError("this loss needs masked places: train.mask = 0.15")
        states, places = _hidden_states(out.texts, hidden.words)
        words = hidden.ids[:, : places.shape[1]][places]
        zero = out.scores.new_zeros(())
        of_words = cross_entropy(self.word(states), words) if len(words) else zero
        states, places = _hidden_states(out.images, hidden.regions)
        features = l2_normalise(hidden.values[:, : places.shape[1]][places])
        if not len(features):
            return of_words
        logits = l2_normalise(self.region(states)) @ features.T / TEMPERATURE
        which = logits.new_tensor(range(len(features))).long()
        return of_words + cross_entropy(logits, which)


def _hidden_states(
    embedding: Embedding, hidden: Bool[Tensor, "item place"]
) -> tuple[Float[Tensor, "hidden dim"], Bool[Tensor, "item read"]]:
    if embedding.places is None:
        raise RecipeError("a masked loss needs heads that keep their places")
    read = hidden[:, : embedding.places.shape[1]]
    return embedding.places[read], read
