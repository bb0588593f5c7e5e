"""Matching pairs by cross-retrieval rank, as bars."""

from collections.abc import Sequence
from pathlib import Path

from deixis.evaluation.probes.cross_rank import cross_rank_counts
from deixis.files import write_atomic
from deixis.pages.figures.plots import bar_chart
from deixis.runs.advance import Advance, silent


def count_cross_ranks(
    runs: Sequence[Path | str],
    split: str = "",
    drawing: Path | None = None,
    advance: Advance = silent,
    *,
    together: bool = False,
) -> dict[str, dict[str, int]]:
    """Count the matching pairs of each run, and draw the counts where a file is named."""
    counts = cross_rank_counts(runs, split, advance, together=together)
    if drawing is not None:
        chart = bar_chart("Matching pairs by cross-retrieval rank", counts)
        write_atomic(drawing, chart.content("svg"))
    return counts
