"""One trunk under every method: the whole item and its parts, at one width."""

from dataclasses import replace

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.encoder import Body
from deixis.encoders.pooled_vector import perceptron
from deixis.encoders.projection import frozen_states
from deixis.errors import RecipeError
from deixis.types import Regions, Tokens


class Trunk(nn.Module):
    """Every part of an item, carrying the whole item: what a method reads in place of raw features.

    *Formula*: ``place = W dropout(LN(part)) + f(dropout(LN(whole)))``, with f the map that two
    towers have on this side. The same channels are dropped in all parts of an item: neighbours see
    nearly the same and would fill the gap.
    *Relations*: with the parts' map at zero, a mean over places is the two-tower model.
    """

    def __init__(self, part: int, whole: int, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.part_norm, self.part = nn.LayerNorm(part), nn.Linear(part, width)
        self.whole_norm = nn.Sequential(nn.LayerNorm(whole), nn.Dropout(dropout))
        self.whole = perceptron(whole, hidden, width, dropout)
        self.channels = nn.Dropout1d(dropout)

    def forward(self, batch: Regions | Tokens) -> Regions | Tokens:
        """Replace the values of a batch; everything else stays."""
        if batch.pooled is None:
            raise RecipeError("this method reads whole-item vectors, which these features lack")
        parts = self.part_norm(frozen_states(batch))
        dropped = self.channels(parts.transpose(1, 2)).transpose(1, 2)
        whole = self.whole(self.whole_norm(batch.pooled)).unsqueeze(1)
        values: Float[Tensor, "item place width"] = self.part(dropped) + whole
        return replace(batch, values=values * batch.mask.unsqueeze(2))


class OnTrunk(nn.Module):
    """A body that reads what a trunk makes of the features."""

    def __init__(self, trunk: Trunk, body: Body) -> None:
        super().__init__()
        self.trunk, self.body = trunk, body
        self.reads_traces = bool(getattr(body, "reads_traces", False))

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Embed every part."""
        return self.body(self.trunk(batch))
