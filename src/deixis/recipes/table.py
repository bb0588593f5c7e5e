"""The printed table: ours beside the paper's."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from deixis.recipes.recipe import Recipe

COLUMNS = {
    "i2t_hit@1": "i→t R@1",
    "i2t_hit@5": "R@5",
    "i2t_hit@10": "R@10",
    "t2i_hit@1": "t→i R@1",
    "t2i_hit@5": "R@5",
    "t2i_hit@10": "R@10",
    "rsum": "RSUM",
}


@dataclass(frozen=True)
class Line:
    """A row of the table: the measures of each seed, and what the paper printed."""

    label: str
    seeds: tuple[Mapping[str, float], ...]
    printed: Mapping[str, float]

    def cell(self, key: str) -> str:
        """Mean over seeds, ± their standard deviation when there are several."""
        values = [seed[key] for seed in self.seeds if key in seed]
        if not values:
            return "–"
        mean = statistics.fmean(values)
        spread = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
        return f"{mean:.1f}{spread}"


def terminal_table(recipe: Recipe, lines: Sequence[Line]) -> Table:
    """The table for a terminal."""
    table = Table(title=recipe.title, caption=recipe.note or None, title_justify="left")
    table.add_column("")
    for heading in COLUMNS.values():
        table.add_column(heading, justify="right")
    for line in lines:
        table.add_row(line.label, *(line.cell(key) for key in COLUMNS))
        if line.printed:
            paper = [f"{line.printed[k]:.1f}" if k in line.printed else "–" for k in COLUMNS]
            table.add_row("  the paper's", *paper, style="dim")
    return table


def table_record(recipe: Recipe, lines: Sequence[Line]) -> dict[str, Any]:
    """The table for machines."""
    return {
        "title": recipe.title,
        "paper": recipe.paper,
        "rows": [
            {"label": line.label, "seeds": list(line.seeds), "printed": dict(line.printed)}
            for line in lines
        ],
    }
