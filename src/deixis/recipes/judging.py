"""How the models of a recipe are judged: by matching pairs, shared labels, or COCO's judgements."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from deixis.data.corpus import Corpus
from deixis.data.dataset import Dataset
from deixis.evaluation.chance import chance
from deixis.evaluation.coco import CocoTest
from deixis.evaluation.evaluate import evaluate, scores_of
from deixis.evaluation.labelled import HEADLINE, chance_by_labels, evaluate_labels
from deixis.evaluation.result import Result
from deixis.methods.model import Model

Judge = Literal["pairs", "labels", "coco"]


@dataclass(frozen=True)
class Judging:
    """A protocol: its measures, what chance reaches, and the one measure that chooses a model."""

    validate: Callable[[Model, Dataset], Result]  # on the split that chooses
    evaluate: Callable[[Model, Dataset], Result]  # on the split that is reported
    chance: Callable[[Corpus], dict[str, float]]
    headline: str


def evaluate_coco(model: Model, dataset: Dataset) -> Result:
    """Rank COCO's test split and judge it by its captions, CxC and ECCV Caption."""
    return CocoTest.load().judge_jointly(scores_of(model, dataset), dataset.corpus)


JUDGINGS: Mapping[Judge, Judging] = {
    "pairs": Judging(evaluate, evaluate, chance, "rsum"),
    "labels": Judging(evaluate_labels, evaluate_labels, chance_by_labels, HEADLINE),
    "coco": Judging(evaluate, evaluate_coco, chance, "rsum"),
}
