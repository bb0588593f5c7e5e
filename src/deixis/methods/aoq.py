"""AOQ: a later round for any method, against negatives mined over the whole training split."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from deixis.errors import RecipeError
from deixis.losses.infonce import InfoNCE
from deixis.losses.matching import Matching
from deixis.losses.objective import Objective, Term
from deixis.losses.quintuplet import AdaptiveWeight, Quintuplet
from deixis.losses.triplet import Triplet
from deixis.methods import load_all
from deixis.methods.model import Method, Model, Paper, methods
from deixis.methods.released import Checkpoint, Released
from deixis.types import Sizes


@methods.register("aoq")
@dataclass(frozen=True)
class AOQ(Method):
    """The base's model and terms, except that quintuplets take the place of its ranking term.

    A triplet passes its margin and reduction on. Of a base that matches pairs by logits (CAMP), the
    probabilities are ranked; of one with a softmax over the batch (text + trace), the cosines.
    """

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
    offline_margin: float = 0.0
    margin: float = 0.2  # where the base's ranking term has none

    def model(self, sizes: Sizes) -> Model:
        """The base's model, as it is."""
        return self.wrapped().model(sizes)

    def objective(self, sizes: Sizes) -> Objective:
        """The base's terms with its ranking term replaced; the weight stays."""
        terms = self.wrapped().objective(sizes).terms
        ranks = [term for term in terms if term.name == "rank"]
        if len(ranks) != 1 or not isinstance(ranks[0].loss, Triplet | Matching | InfoNCE):
            raise RecipeError(
                f"AOQ replaces a loss that ranks all texts of a batch; '{self.base['name']}' has "
                "none: its loss uses labels, or ranks some texts separately"
            )
        return Objective(*(self._swapped(term) if term in ranks else term for term in terms))

    @classmethod
    def released(cls, found: Checkpoint) -> Released:
        """Read a model of the published code, which is VSRN's or BFAN's under its own names."""
        load_all()
        base = "vsrn" if found.has("img_enc.Rs_GCN_1.") else "bfan"
        read = methods.find(base).released(found)
        return replace(read, options={"base": {"name": base, **read.options}})

    def wrapped(self) -> Method:
        """The method this is a later round of."""
        if "name" not in self.base:
            raise RecipeError("method 'aoq' wraps another: base = {name = …}")
        load_all()
        options = {key: value for key, value in self.base.items() if key != "name"}
        return methods.build(self.base["name"], options)

    def _swapped(self, term: Term) -> Term:
        base = term.loss
        margin = base.margin if isinstance(base, Triplet) else self.margin
        averaged = isinstance(base, InfoNCE)
        weigh = AdaptiveWeight(self.alpha, self.beta)
        loss = Quintuplet(
            margin,
            self.offline_margin,
            quintuplets=self.variant != "OffTri",
            weigh=weigh if self.variant == "AdapOffQuin" else None,
            reduction=base.reduction
            if isinstance(base, Triplet)
            else ("mean" if averaged else "sum"),
            squash=isinstance(base, Matching),
        )
        return replace(term, loss=loss)
