"""A run on disk under the protocol ``entailment``."""

from pathlib import Path

from deixis.evaluation.entailment.entailment_protocol import EntailmentResult, judge_entailment
from deixis.evaluation.entailment.judged_sentences import read_sentences
from deixis.runs.advance import Advance, silent
from deixis.runs.run import Run


def evaluate_entailment(
    run: Run, split: str = "", corpus: str = "", sentences: str = "", advance: Advance = silent
) -> EntailmentResult:
    """Judge a run by the sentences beside its corpus, or by a file of them."""
    dataset = run.dataset(split, corpus, advance)
    path = Path(sentences) if sentences else dataset.corpus.root
    return judge_entailment(run.matcher, dataset, read_sentences(path, dataset.corpus))
