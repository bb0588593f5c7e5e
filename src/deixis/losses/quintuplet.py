"""Hard negatives from the whole training split beside those of the batch."""

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor

from deixis.errors import RecipeError
from deixis.losses.objective import Loss, Objective
from deixis.types import ApartScores, OfflineScores, Outputs, map_tensors

Reduction = Literal["sum", "mean"]


@dataclass(frozen=True)
class AdaptiveWeight:
    """How much an online negative counts, given the offline one of the same anchor.

    *Formula*: ``w = β − (S_off − S_on) / α``: an online negative as hard as the offline one
    counts β, an easier one less.
    *Paper*: AOQ 2020, equation 5. There the weight may fall below zero, which rewards the
    violation, and carries gradient, which raises the offline score; both are kept as printed.
    """

    alpha: float = 0.3
    beta: float = 1.5

    def __call__(
        self, offline: Float[Tensor, " pair"], online: Float[Tensor, " pair"]
    ) -> Float[Tensor, " pair"]:
        """Weigh each pair's online negative."""
        return self.beta - (offline - online) / self.alpha


class Quintuplet(Loss):
    """Hinges against the batch's hardest negatives and against negatives mined offline.

    *Formula*: for a matching pair with score p: ``w [m + S_on − p]₊`` for the hardest text and
    image of the batch, ``[o + S_off − p]₊`` for the mined text and image, and with
    ``quintuplets`` the same for the two pairs made of mined items alone, which share nothing with
    the pair. Margins m and o; w is 1 without ``weigh``. With ``squash`` scores are logits, and
    their sigmoids are ranked: margins and weights are meant for scores within bounds.
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
        weigh: AdaptiveWeight | None = None,
        reduction: Reduction = "sum",
        squash: bool = False,
    ) -> None:
        super().__init__()
        self.margin = margin
        self.offline_margin = offline_margin
        self.quintuplets = quintuplets
        self.weigh = weigh
        self.reduction = reduction
        self.squash = squash

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
        scores = out.scores
        if self.squash:
            scores, mined = scores.sigmoid(), _squashed(mined)
        image, text = mined.pair.T
        matching = scores[image, text]
        online = scores.masked_fill(out.batch.positives, float("-inf"))
        found = [
            self._online(online.amax(dim=1)[image], matching, mined.hard_text),
            self._online(online.amax(dim=0)[text], matching, mined.hard_image),
            (self.offline_margin + mined.hard_text - matching).clamp(min=0),
            (self.offline_margin + mined.hard_image - matching).clamp(min=0),
        ]
        if not self.quintuplets:
            return found
        if mined.across is None or mined.partners is None:
            raise RecipeError("quintuplets need partners of mined items, which this batch lacks")
        return [*found, *(self._apart(p, matching) for p in (mined.across, mined.partners))]

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
        self, pairs: ApartScores, matching: Float[Tensor, " pair"]
    ) -> Float[Tensor, " pair"]:
        hinge = (self.offline_margin + pairs.scores - matching).clamp(min=0)
        return hinge.masked_fill(pairs.match, 0.0)


def needs_partners(objective: Objective) -> bool:
    """Whether a term uses pairs of two mined items; OffTri does not, which saves a third."""
    return any(isinstance(t.loss, Quintuplet) and t.loss.quintuplets for t in objective.terms)


def _squashed(mined: OfflineScores) -> OfflineScores:
    return map_tensors(mined, lambda x: x.sigmoid() if x.is_floating_point() else x)
