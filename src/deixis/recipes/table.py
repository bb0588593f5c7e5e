"""The printed table: ours beside the paper's, for terminals, pages and machines."""

import html
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table

COLUMNS = {
    "i2t_hit@1": "i→t R@1",
    "i2t_hit@5": "R@5",
    "i2t_hit@10": "R@10",
    "t2i_hit@1": "t→i R@1",
    "t2i_hit@5": "R@5",
    "t2i_hit@10": "R@10",
    "rsum": "RSUM",
}
LABELS = {
    "i2t_ndcg": "i→t NDCG",
    "t2i_ndcg": "t→i NDCG",
    "i2t_map": "i→t mAP",
    "t2i_map": "t→i mAP",
    "image_f1": "image F1",
    "text_f1": "text F1",
}
COCO = {
    key: heading
    for way, asked in (("i2t", "i→t"), ("t2i", "t→i"))
    for key, heading in (
        (f"eccv_{way}_map@r", f"{asked} ECCV mAP@R"),
        (f"eccv_{way}_rprecision", "R-P"),
        (f"eccv_{way}_hit@1", "R@1"),
        (f"cxc_{way}_hit@1", "CxC R@1"),
        (f"{way}_hit@1", "COCO R@1"),
    )
}
TWINS = {"swap": "swap binding", "twin": "right twin"}  # where a corpus has twins to tell apart
GATES = {"gate": "gates", "gate_swapped": "swapped"}  # where a model has some
COSTS = {"query_ms": "a query, ms", "whole_s": "whole split, s"}  # where a recipe shows them


@dataclass(frozen=True)
class Line:
    """A row of the table: the measures of each seed, and what the paper printed."""

    label: str
    seeds: tuple[Mapping[str, float], ...]
    printed: Mapping[str, float]
    complexity: str = ""  # of scoring, where the table shows costs

    def cell(self, key: str) -> str:
        """Mean over seeds, ± their standard deviation when there are several."""
        values = [seed[key] for seed in self.seeds if key in seed]
        if not values:
            return "–"
        spread = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
        return f"{statistics.fmean(values):.1f}{spread}"


@dataclass(frozen=True)
class Report:
    """A finished table."""

    title: str
    paper: str
    note: str
    lines: tuple[Line, ...]
    costs: bool = False

    @property
    def columns(self) -> dict[str, str]:
        """Measures and their headings; by labels, COCO's judgements or twins where lines have them.

        Twins are there for queries to tell apart, so a table with them is about texts that ask.
        """
        measured = {key for line in self.lines for seed in line.seeds for key in seed}
        if "ndcg" in measured:
            return LABELS
        if "eccv_i2t_map@r" in measured:
            return COCO
        twins = {key: name for key, name in TWINS.items() if key in measured}
        asking = {key: name for key, name in COLUMNS.items() if key.startswith("t2i")}
        gates = {key: name for key, name in GATES.items() if key in measured}
        return (COSTS if self.costs else {}) | (asking | twins if twins else COLUMNS) | gates

    @property
    def headings(self) -> list[str]:
        """Of the label, the complexity where costs are shown, and the measures."""
        return ["", *(["complexity"] if self.costs else []), *self.columns.values()]

    def rows(self) -> list[list[str]]:
        """Cells as text: a label and a cell a column; the paper's numbers under ours."""
        out, columns = [], self.columns
        for line in self.lines:
            price = [line.complexity or "–"] if self.costs else []
            out.append([line.label, *price, *(line.cell(key) for key in columns)])
            if line.printed:
                found = (line.printed.get(key) for key in columns)
                paper = ["–" if value is None else f"{value:.1f}" for value in found]
                out.append(["  printed in the paper", *["–"] * len(price), *paper])
        return out

    def terminal(self) -> Table:
        """For a terminal."""
        table = Table(title=self.title, caption=self.note or None, title_justify="left")
        table.add_column("", no_wrap=True, overflow="fold")
        for heading in self.headings[1:]:
            table.add_column(heading, justify="right")
        for row in self.rows():
            table.add_row(*row, style="dim" if row[0].startswith(" ") else None)
        return table

    def markdown(self) -> str:
        """For a document."""
        ruler = ["---", *["---:"] * (len(self.headings) - 1)]
        lines = [self.headings, ruler, *self.rows()]
        body = "\n".join("| " + " | ".join(cell.strip() for cell in line) + " |" for line in lines)
        return f"**{self.title}**\n\n{body}\n\n{self.note}\n"

    def html(self) -> str:
        """For a page."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.headings)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows()
        )
        return (
            f"<figure><figcaption>{html.escape(self.title)}</figcaption>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{html.escape(self.note)}</p></figure>\n"
        )

    def record(self) -> dict[str, Any]:
        """For machines: every seed, unrounded."""
        rows = [
            {"label": line.label, "seeds": list(line.seeds), "printed": dict(line.printed)}
            for line in self.lines
        ]
        return {"title": self.title, "paper": self.paper, "note": self.note, "rows": rows}
