"""Caption generation as an auxiliary loss: the image must predict its texts."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from deixis.errors import RecipeError
from deixis.heads.gru_last_state import state_at_end
from deixis.losses.objective import Loss
from deixis.types import Outputs

LONGEST = 60  # words of a text that are predicted; VSRN's limit


class Captioning(Loss):
    """Words of each matching text, predicted one by one from the regions of the image.

    *Formula*: the mean over matching pairs of ``−Σ log p(word | the words before it, regions)``.
    *Needs*: image embeddings with ``places``, and word ids that begin with a start word.
    *Paper*: VSRN 2019, section 3.4, weight 1 beside a summed triplet. Words are predicted up to
    the end word; the published code also predicts one step of padding after it.
    """

    def __init__(self, dim: int, vocabulary: int, width: int = 512, word_dim: int = 300) -> None:
        super().__init__()
        self.captioner = Captioner(dim, vocabulary, width, word_dim)

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Average over matching pairs."""
        if out.images.places is None:
            raise RecipeError("a caption loss needs an image head that keeps its regions")
        image, text = out.batch.positives.nonzero(as_tuple=True)
        tokens = out.batch.texts
        ids, mask = tokens.ids[text, :LONGEST], tokens.mask[text, 1:LONGEST]
        logits = self.captioner(out.images.places, out.batch.images.mask, image, ids[:, :-1])
        loss = cross_entropy(logits[mask], ids[:, 1:][mask], reduction="sum")
        return loss / max(1, len(image))


class Captioner(nn.Module):
    """A GRU over regions, and a GRU over words that attends to its states.

    *Formula*: attention ``w₂ᵀ tanh(W₁ [state of region; state of words] + b₁)``, softmax over the
    regions that exist; the context joins the word at the input.
    """

    def __init__(self, dim: int, vocabulary: int, width: int, word_dim: int) -> None:
        super().__init__()
        self.project = nn.Linear(dim, width)
        nn.init.xavier_normal_(self.project.weight)
        self.read = nn.GRU(width, width, batch_first=True)
        self.embed = nn.Embedding(vocabulary, word_dim)
        self.attention = nn.Linear(2 * width, width)
        self.attention_score = nn.Linear(width, 1, bias=False)
        self.decoder = nn.GRUCell(word_dim + width, width)
        self.logits = nn.Linear(width, vocabulary)
        self.dropout = nn.Dropout(0.2)

    def forward(
        self,
        places: Float[Tensor, "image place dim"],
        mask: Bool[Tensor, "image place"],
        image: Int[Tensor, " pair"],
        words: Int[Tensor, "pair word"],
    ) -> Float[Tensor, "pair word vocabulary"]:
        """Logits of the word after each given word, for the image of each pair."""
        states, last = self._states(places, mask)
        # W₁ is applied to its two halves apart: the regions' half is the same for every word.
        of_region, of_word = self.attention.weight.split(states.shape[2], dim=1)
        seen = (states @ of_region.T + self.attention.bias)[image]
        states, absent, hidden = states[image], ~mask[image], last[image]
        inputs = self.embed(words)
        outputs = []
        for place in range(words.shape[1]):
            scores = self.attention_score((seen + (hidden @ of_word.T).unsqueeze(1)).tanh())[..., 0]
            weights = scores.masked_fill(absent, float("-inf")).softmax(dim=1)
            context = (weights.unsqueeze(1) @ states)[:, 0]
            hidden = self.decoder(self.dropout(torch.cat([inputs[:, place], context], 1)), hidden)
            outputs.append(hidden)
        return self.logits(torch.stack(outputs, dim=1))

    def _states(
        self, places: Float[Tensor, "image place dim"], mask: Bool[Tensor, "image place"]
    ) -> tuple[Float[Tensor, "image place width"], Float[Tensor, "image width"]]:
        states, _ = self.read(self.dropout(self.project(places)))
        return states, state_at_end(states, mask.sum(dim=1).clamp(min=1))
