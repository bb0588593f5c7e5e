"""A trained model on a split, under a protocol of the table."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deixis.data.dataset import Dataset
from deixis.errors import EvaluationError
from deixis.evaluation.judge import scores_of
from deixis.evaluation.protocol_table import protocol as find_protocol
from deixis.evaluation.result import Result
from deixis.evaluation.trec import write_trec
from deixis.runs.advance import Advance, silent
from deixis.runs.matcher import Matcher
from deixis.runs.run import Run


@dataclass(frozen=True)
class Evaluation:
    """The results of a protocol by name; most protocols have one."""

    results: Mapping[str, Result]
    written: tuple[Path, ...] = ()  # rankings and judgements in TREC's format, where asked for

    @property
    def first(self) -> Result:
        """The only result, or the first of several."""
        return next(iter(self.results.values()))

    @property
    def measures(self) -> dict[str, float]:
        """The measures of the first result, in percent."""
        return self.first.measures

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {name: result.to_dict() for name, result in self.results.items()}


def evaluate(
    run: Run | Path | str | Matcher,
    split: str | Dataset = "",
    *,
    corpus: str = "",
    protocol: str = "whole",
    trec: Path | None = None,
    advance: Advance = silent,
) -> Evaluation:
    """Rank every text for every image of a split and back; ties count against the system.

    ``split`` and ``corpus`` are those the run was evaluated on when left out. A model in memory is
    evaluated on a ``Dataset``, for example one of ``deixis.prepare(corpus).splits``. ``protocol``
    is a name of ``evaluation.protocol_table``; ``trec`` is a folder for TREC run and qrels files.

    ```python
    deixis.evaluate("runs/tiny/vse++-0", "test").measures["rsum"]
    deixis.evaluate(matcher, deixis.prepare(corpus).splits["test"]).measures["t2i_hit@1"]
    ```
    """
    if isinstance(run, Matcher):
        if not isinstance(split, Dataset):
            raise EvaluationError(
                "a model in memory is evaluated on a Dataset: prepare(corpus).splits['test']"
            )
        model, dataset = run.model, split
    else:
        found = Run(run)
        dataset = split if isinstance(split, Dataset) else found.dataset(split, corpus, advance)
        model = found.matcher.model
    judged_by = find_protocol(protocol)
    written = write_trec(trec, scores_of(model, dataset), dataset.corpus) if trec else ()
    return Evaluation(judged_by.results(model, dataset), tuple(written))
