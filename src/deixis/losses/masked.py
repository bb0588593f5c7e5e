"""Hidden regions and words must be told from what is left."""

from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from deixis.errors import RecipeError
from deixis.heads.unit import unit
from deixis.losses.base import Loss
from deixis.types import Embedding, Outputs

TEMPERATURE = 0.1


class Masked(Loss):
    """The hidden word among all words, the hidden region among the batch's hidden regions.

    *Formula*: cross-entropy of logits, averaged over hidden words, plus the same over hidden
    regions, where the logit of a region is the cosine of its feature with what is told, over 0.1.
    *Needs*: batches with hidden places, and heads that keep their places as ``local``.
    *Paper*: semantic sharing 2021, equation 5. There a region's detector class is told; features
    without classes are told apart instead. The published code hides no region and takes the
    entropy of sigmoids, which keeps it near chance.
    """

    def __init__(self, dim: int, region: int, vocabulary: int) -> None:
        super().__init__()
        self.word = nn.Linear(dim, vocabulary)
        self.region = nn.Linear(dim, region)

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Add words and regions; a batch that hides nothing costs nothing."""
        hidden = out.batch.hidden
        if hidden is None:
            raise RecipeError("this loss needs hidden places: train.hide = 0.15")
        states, places = _hidden_states(out.texts, hidden.words)
        words = hidden.ids[:, : places.shape[1]][places]
        zero = out.scores.new_zeros(())
        of_words = cross_entropy(self.word(states), words) if len(words) else zero
        states, places = _hidden_states(out.images, hidden.regions)
        features = unit(hidden.values[:, : places.shape[1]][places])
        if not len(features):
            return of_words
        logits = unit(self.region(states)) @ features.T / TEMPERATURE
        which = logits.new_tensor(range(len(features))).long()
        return of_words + cross_entropy(logits, which)


def _hidden_states(
    embedding: Embedding, hidden: Bool[Tensor, "item place"]
) -> tuple[Float[Tensor, "hidden dim"], Bool[Tensor, "item read"]]:
    if embedding.local is None:
        raise RecipeError("a masked loss needs heads that keep their places")
    read = hidden[:, : embedding.local.shape[1]]
    return embedding.local[read], read
