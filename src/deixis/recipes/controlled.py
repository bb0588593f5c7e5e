"""A finished run judged again with its narrations' traces taken away or spoilt."""

from pathlib import Path

from deixis.evaluation.evaluate import judge, scores_of
from deixis.evaluation.result import RunRanks
from deixis.evaluation.trace_controls import controlled
from deixis.methods.matcher import load
from deixis.recipes.prepare import Advance, prepare_for


def controlled_ranks(run: Path, control: str, advance: Advance) -> RunRanks:
    """The rank of every query of a run's own split, under a control of its traces."""
    matcher = load(run)
    dataset = prepare_for(run, matcher, "", "", advance)
    asked = controlled(dataset, matcher.vocabulary, control)
    result = judge(scores_of(matcher.model, asked), asked.corpus)
    same = (result.protocol, result.split_sha, result.tie_rule)
    return RunRanks(run, *same, result.ranks, owners=result.owners)
