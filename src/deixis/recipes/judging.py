"""How the models of a recipe are judged: by matching pairs, or by shared labels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from deixis.data.corpus import Corpus
from deixis.data.dataset import Dataset
from deixis.evaluation.chance import chance
from deixis.evaluation.evaluate import evaluate
from deixis.evaluation.labelled import HEADLINE, chance_by_labels, evaluate_labels
from deixis.evaluation.result import Result
from deixis.methods.model import Model

Judge = Literal["pairs", "labels"]


@dataclass(frozen=True)
class Judging:
    """A protocol: its measures, what chance reaches, and the one measure that chooses a model."""

    evaluate: Callable[[Model, Dataset], Result]
    chance: Callable[[Corpus], dict[str, float]]
    headline: str


JUDGINGS: Mapping[Judge, Judging] = {
    "pairs": Judging(evaluate, chance, "rsum"),
    "labels": Judging(evaluate_labels, chance_by_labels, HEADLINE),
}
