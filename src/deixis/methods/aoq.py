"""AOQ: a later round for any method, against negatives mined over the whole training split."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from deixis.errors import RecipeError
from deixis.losses.base import Objective, Term
from deixis.losses.quintuplet import Adaptive, Quintuplet
from deixis.losses.triplet import Triplet
from deixis.methods import load_all
from deixis.methods.model import Method, Model, Paper, Sizes, methods


@methods.register("aoq")
@dataclass(frozen=True)
class AOQ(Method):
    """The base's model and terms, except that quintuplets take the place of its ranking term."""

    name: ClassVar[str] = "aoq"
    paper: ClassVar[Paper] = Paper(
        title="Adaptive Offline Quintuplet Loss for Image-Text Matching",
        authors="Tianlang Chen, Jiajun Deng, Jiebo Luo",
        year=2020,
        venue="ECCV",
    )
    base: Mapping[str, Any] = field(default_factory=lambda: {"name": "vsrn"})
    variant: Literal["OffTri", "OffQuin", "AdapOffQuin"] = "AdapOffQuin"
    alpha: float = 0.3
    beta: float = 1.5
    lowest: float | None = None  # what the adaptive weight never falls below
    detached: bool = False  # whether the adaptive weight carries no gradient
    offline_margin: float = 0.0

    def model(self, sizes: Sizes) -> Model:
        """The base's model, as it is."""
        return self.wrapped().model(sizes)

    def objective(self, sizes: Sizes) -> Objective:
        """The base's terms with its triplet swapped; margin, weight and reduction stay."""
        terms = self.wrapped().objective(sizes).terms
        ranks = [term for term in terms if term.name == "rank"]
        if len(ranks) != 1 or not isinstance(ranks[0].loss, Triplet):
            raise RecipeError(f"AOQ swaps a triplet; '{self.base['name']}' ranks by something else")
        return Objective(*(self._swapped(term) if term in ranks else term for term in terms))

    def wrapped(self) -> Method:
        """The method this is a later round of."""
        if "name" not in self.base:
            raise RecipeError("method 'aoq' wraps another: base = {name = …}")
        load_all()
        options = {key: value for key, value in self.base.items() if key != "name"}
        return methods.build(self.base["name"], options)

    def _swapped(self, term: Term) -> Term:
        triplet = term.loss
        assert isinstance(triplet, Triplet)
        weigh = Adaptive(self.alpha, self.beta, self.lowest, self.detached)
        loss = Quintuplet(
            triplet.margin,
            self.offline_margin,
            quintuplets=self.variant != "OffTri",
            weigh=weigh if self.variant == "AdapOffQuin" else None,
            reduction=triplet.reduction,
        )
        return replace(term, loss=loss)
