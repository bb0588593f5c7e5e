"""Finished runs paired query by query, the traces of one removed or perturbed where asked."""

from pathlib import Path

from deixis.evaluation.judge import judge, scores_of
from deixis.evaluation.probes.trace_controls import controlled
from deixis.evaluation.result import RunRanks
from deixis.evaluation.significance import Difference, compare_seeds
from deixis.runs.advance import Advance, silent
from deixis.runs.run import Run, seeds_of


def compare_runs(
    first: Path | str,
    second: Path | str,
    *,
    seed: int = 0,
    control: str = "",
    advance: Advance = silent,
) -> list[Difference]:
    """Differences of two runs, or of all their seeds, with intervals from a paired bootstrap.

    ``control`` is what the traces of the first run suffer, such as "no trace".
    """
    ours = [
        controlled_ranks(run, control, advance) if control else RunRanks.load(run)
        for run in seeds_of(first)
    ]
    return compare_seeds(ours, [RunRanks.load(run) for run in seeds_of(second)], seed)


def controlled_ranks(run: Run, control: str, advance: Advance) -> RunRanks:
    """The rank of every query of a run's own split, under a control of its traces."""
    matcher, dataset = run.matcher, run.dataset(advance=advance)
    asked = controlled(dataset, matcher.vocabulary, control)
    result = judge(scores_of(matcher.model, asked), asked.corpus)
    same = (result.protocol, result.split_sha, result.tie_rule)
    return RunRanks(run, *same, result.ranks, owners=result.owners)
