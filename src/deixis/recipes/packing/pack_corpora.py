"""What a packed run reaches on the other corpora it was trained on, described on its card."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from deixis.evaluation.judge import judge
from deixis.files import write_atomic
from deixis.recipes.pointing.judge_pointing import text_scores
from deixis.recipes.results.printed_table import COLUMNS
from deixis.runs.advance import Advance, silent
from deixis.runs.run import Run

HEADING = "## Other corpora"


def pack_corpora(
    run: Run, trained: Run, advance: Advance = silent
) -> dict[str, Mapping[str, float]]:
    """Judge a packed run, as shipped, on the test split of every further corpus of its training."""
    found: dict[str, Mapping[str, float]] = {}
    rows = []
    for path in trained.data.also:
        dataset = run.dataset(trained.data.test, path, advance)
        result = judge(text_scores(run, dataset).astype(np.float32), dataset.corpus)
        found[path] = result.measures
        sizes = f"{len(dataset.images):,} photographs"
        cells = " | ".join(f"{result.measures[key]:.1f}" for key in COLUMNS)
        rows.append(f"| {Path(path).name}, split `{trained.data.test}`, {sizes} | {cells} |")
    if rows:
        card = run.path("card").read_text(encoding="utf-8").partition(HEADING)[0].rstrip()
        head = [f"| | {' | '.join(COLUMNS.values())} |", f"|---|{'---|' * len(COLUMNS)}"]
        said = "Its training split was trained on, too; the figures are of the run as shipped."
        section = "\n".join([HEADING, "", said, "", *head, *rows])
        write_atomic(run.path("card"), f"{card}\n\n{section}\n".encode())
    return found
