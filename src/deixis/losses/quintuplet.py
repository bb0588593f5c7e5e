"""Hard negatives from the whole training split beside those of the batch."""

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Bool, Float
from torch import Tensor

from deixis.errors import RecipeError
from deixis.losses.base import Loss
from deixis.types import OfflineScores, Outputs

Reduction = Literal["sum", "mean"]


@dataclass(frozen=True)
class Adaptive:
    """How much an online negative counts, given the offline one of the same anchor.

    *Formula*: ``w = β − (S_off − S_on) / α``: an online negative as hard as the offline one
    counts β, an easier one less.
    *Paper*: AOQ 2020, equation 5. There the weight may fall below zero, which rewards the
    violation, and carries gradient, which raises the offline score; ``lowest`` and ``detached``
    are how to have neither.
    """

    alpha: float = 0.3
    beta: float = 1.5
    lowest: float | None = None  # what the weight never falls below
    detached: bool = False  # whether the weight is a number to the gradient

    def __call__(
        self, offline: Float[Tensor, " pair"], online: Float[Tensor, " pair"]
    ) -> Float[Tensor, " pair"]:
        """Weigh each pair's online negative."""
        weight = self.beta - (offline - online) / self.alpha
        if self.lowest is not None:
            weight = weight.clamp(min=self.lowest)
        return weight.detach() if self.detached else weight


class Quintuplet(Loss):
    """Every matching pair must beat the batch's hardest negatives and those mined before.

    *Formula*: for a matching pair with score p: ``w [m + S_on − p]₊`` for the hardest text and
    image of the batch, ``[o + S_off − p]₊`` for the mined text and image, and with
    ``quintuplets`` the same for the two pairs made of mined items alone, which share nothing with
    the pair. Margins m and o; w is 1 without ``weigh``.
    *Needs*: offline negatives in the batch.
    *Relations*: without ``weigh`` and ``quintuplets`` OffTri, without ``weigh`` OffQuin, with both
    AdapOffQuin; OffQuin is AdapOffQuin with β = 1 as α grows without bound.
    *Paper*: AOQ 2020, equations 2 to 6. A quintuplet whose mined items truly match is left out;
    the published code pushes it down.
    """

    def __init__(
        self,
        margin: float = 0.2,
        offline_margin: float = 0.0,
        *,
        quintuplets: bool = True,
        weigh: Adaptive | None = None,
        reduction: Reduction = "sum",
    ) -> None:
        super().__init__()
        self.margin = margin
        self.offline_margin = offline_margin
        self.quintuplets = quintuplets
        self.weigh = weigh
        self.reduction = reduction

    def forward(self, out: Outputs, step: int) -> Float[Tensor, ""]:
        """Add all hinges up, or average each kind."""
        hinges = self.hinges(out)
        if self.reduction == "sum":
            return sum((hinge.sum() for hinge in hinges), start=out.scores.new_zeros(()))
        return sum((hinge.mean() for hinge in hinges), start=out.scores.new_zeros(()))

    def hinges(self, out: Outputs) -> list[Float[Tensor, " pair"]]:
        """Online text and image, offline text and image, and the two quintuplets' hinges."""
        mined = out.offline
        if mined is None:
            raise RecipeError("this loss needs offline negatives; give the row `offline = {…}`")
        image, text = mined.pair.T
        matching = out.scores[image, text]
        online = out.scores.masked_fill(out.batch.positives, float("-inf"))
        found = [
            self._online(online.amax(dim=1)[image], matching, mined.hard_text),
            self._online(online.amax(dim=0)[text], matching, mined.hard_image),
            (self.offline_margin + mined.hard_text - matching).clamp(min=0),
            (self.offline_margin + mined.hard_image - matching).clamp(min=0),
        ]
        return [*found, *self._apart(mined, matching)] if self.quintuplets else found

    def _online(
        self,
        online: Float[Tensor, " pair"],
        matching: Float[Tensor, " pair"],
        offline: Float[Tensor, " pair"],
    ) -> Float[Tensor, " pair"]:
        """A batch without a negative for an anchor leaves minus infinity, which must not weigh."""
        alone = online.isneginf()
        online = online.masked_fill(alone, 0.0)
        hinge = (self.margin + online - matching).clamp(min=0)
        if self.weigh is not None:
            hinge = hinge * self.weigh(offline, online)
        return hinge.masked_fill(alone, 0.0)

    def _apart(
        self, mined: OfflineScores, matching: Float[Tensor, " pair"]
    ) -> list[Float[Tensor, " pair"]]:
        def hinge(
            scores: Float[Tensor, " pair"], match: Bool[Tensor, " pair"]
        ) -> Float[Tensor, " pair"]:
            return (self.offline_margin + scores - matching).clamp(min=0).masked_fill(match, 0.0)

        return [
            hinge(mined.across, mined.across_matches),
            hinge(mined.partners, mined.partners_match),
        ]
