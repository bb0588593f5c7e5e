"""The one table of protocols: by which rules a model is judged, under the names commands use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import get_args

from jaxtyping import Float
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.data.dataset import Dataset
from deixis.errors import EvaluationError
from deixis.evaluation.chance import chance, chance_in_folds
from deixis.evaluation.judge import evaluate_split, judge, judge_folds, scores_in_folds, scores_of
from deixis.evaluation.protocol_names import ProtocolName
from deixis.evaluation.protocols.coco_judgements import CocoTest
from deixis.evaluation.protocols.coco_part import judge_part, judge_part_jointly
from deixis.evaluation.protocols.label_protocol import (
    HEADLINE,
    chance_by_labels,
    evaluate_label_folds,
    evaluate_labels,
    judge_label_folds,
    judge_labels,
)
from deixis.evaluation.result import Result
from deixis.methods.model import Model

Scores = Float[ndarray, "image text"]
Evaluate = Callable[[Model, Dataset], Result]


@dataclass(frozen=True)
class EvaluationProtocol:
    """Its measures, what chance reaches, and the one measure that chooses a model."""

    evaluate: Evaluate  # on the split that is reported
    on_scores: Callable[[Scores, Corpus], Result]  # the same of a score matrix, for ensembles
    chance: Callable[[Corpus], dict[str, float]] = chance
    headline: str = "rsum"
    validate: Evaluate = evaluate_split  # on the split that chooses
    # The same as several results, where a protocol has parts that are reported apart.
    parts: Callable[[Model, Dataset], dict[str, Result]] | None = None

    def results(self, model: Model, dataset: Dataset) -> dict[str, Result]:
        """What is reported, by name: one result, or one per part of the protocol."""
        if self.parts is not None:
            return self.parts(model, dataset)
        found = self.evaluate(model, dataset)
        return {found.protocol: found}


def _folds(model: Model, dataset: Dataset) -> Result:
    return judge_folds(scores_in_folds(model, dataset), dataset.corpus)


def _coco(model: Model, dataset: Dataset) -> Result:
    return _coco_scores(scores_of(model, dataset), dataset.corpus)


def _coco_scores(scores: Scores, corpus: Corpus) -> Result:
    return CocoTest.load().judge_jointly(scores, corpus)


def _coco_part(model: Model, dataset: Dataset) -> Result:
    return _coco_part_scores(scores_of(model, dataset), dataset.corpus)


def _coco_part_scores(scores: Scores, corpus: Corpus) -> Result:
    return judge_part_jointly(scores, corpus, CocoTest.load())


def _coco_part_parts(model: Model, dataset: Dataset) -> dict[str, Result]:
    return judge_part(scores_of(model, dataset), dataset.corpus, CocoTest.load())


def _coco_parts(model: Model, dataset: Dataset) -> dict[str, Result]:
    return CocoTest.load().judge_corpus(scores_of(model, dataset), dataset.corpus)


PROTOCOLS: Mapping[ProtocolName, EvaluationProtocol] = {
    "whole": EvaluationProtocol(evaluate_split, judge),
    "folds": EvaluationProtocol(_folds, judge_folds, chance_in_folds),
    "coco": EvaluationProtocol(_coco, _coco_scores, parts=_coco_parts),
    "coco-part": EvaluationProtocol(_coco_part, _coco_part_scores, parts=_coco_part_parts),
    "labels": EvaluationProtocol(
        evaluate_labels, judge_labels, chance_by_labels, HEADLINE, validate=evaluate_labels
    ),
    "label-folds": EvaluationProtocol(
        evaluate_label_folds,
        judge_label_folds,
        partial(chance_in_folds, of_corpus=chance_by_labels),
        HEADLINE,
        validate=evaluate_labels,
    ),
}


def protocol(name: str) -> EvaluationProtocol:
    """The protocol of a name; an unknown one is refused with those there are."""
    for known in get_args(ProtocolName):
        if name == known:
            return PROTOCOLS[known]
    listed = ", ".join(PROTOCOLS)
    raise EvaluationError(f"there is no protocol '{name}'; there are: {listed}")
