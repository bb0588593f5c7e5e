"""The printed table: ours beside the paper's, for terminals, pages and machines."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from deixis.evaluation.places.places_result import PlacesResult
from deixis.evaluation.result import Result
from deixis.recipes.pointing.places_table import places_markdown, places_terminal

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
TWINS = {"swap": "swap binding", "twin": "right twin"}  # where a corpus has twins
GATES = {"gate": "gates", "gate_swapped": "swapped"}  # where a model has some
COSTS = {"query_ms": "per query, ms", "whole_s": "whole split, s"}  # where a recipe shows them
TOP10 = {"flops_ratio": "FLOPs, first row 1", "top10_ms": "best 10 of each, ms"}  # or these


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
        spread = f" ± {shown(key, statistics.stdev(values))}" if len(values) > 1 else ""
        return f"{shown(key, statistics.fmean(values))}{spread}"


def shown(key: str, value: float) -> str:
    """A number as the table has it: measures with one decimal, costs with three digits.

    >>> shown("rsum", 498.06), shown("query_ms", 0.614), shown("top10_ms", 198121.0)
    ('498.1', '0.614', '198,121')
    """
    if key not in COSTS and key not in TOP10:
        return f"{value:.1f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def with_flops_ratios(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines with their FLOPs beside those of the first that counts them."""
    first = next((line.seeds[0]["flops"] for line in lines if "flops" in line.seeds[0]), 0.0)
    return tuple(
        replace(line, seeds=tuple(seed | _ratio(seed, first) for seed in map(dict, line.seeds)))
        for line in lines
    )


def _ratio(seed: Mapping[str, float], first: float) -> dict[str, float]:
    return {"flops_ratio": seed["flops"] / first} if first and "flops" in seed else {}


@dataclass(frozen=True)
class Report:
    """A finished table."""

    title: str
    paper: str
    note: str
    lines: tuple[Line, ...]
    costs: bool = False
    pointing: tuple[PlacesResult, ...] = ()  # one per seed, where rows are judged with places

    @classmethod
    def of_results(cls, title: str, results: Mapping[str, Result]) -> "Report":
        """A table of results of one split, a row per result."""
        first = next(iter(results.values()))
        sizes = f"{first.gallery['t2i']} images, {first.gallery['i2t']} texts"
        note = f"{sizes}; split {first.split_sha}; ties {first.tie_rule}"
        lines = (Line(name, (result.measures,), {}) for name, result in results.items())
        return cls(title, "", note, tuple(lines))

    @property
    def columns(self) -> dict[str, str]:
        """Measures and their headings; by labels, COCO's judgements or twins where lines have them.

        Twins test text queries, so a table with them shows text-to-image measures.
        """
        measured = {key for line in self.lines for seed in line.seeds for key in seed}
        if "ndcg" in measured:
            return LABELS
        if "eccv_i2t_map@r" in measured:
            return COCO
        twins = {key: name for key, name in TWINS.items() if key in measured}
        asking = {key: name for key, name in COLUMNS.items() if key.startswith("t2i")}
        gates = {key: name for key, name in GATES.items() if key in measured}
        costs = {key: name for key, name in (COSTS | TOP10).items() if key in measured}
        return (costs if self.costs else {}) | (asking | twins if twins else COLUMNS) | gates

    @property
    def headings(self) -> list[str]:
        """Of the label, the complexity where costs are shown, and the measures."""
        return ["", *(["complexity"] if self.costs else []), *self.columns.values()]

    def rows(self) -> list[list[str]]:
        """Cells as text: a label and one cell per column; the paper's numbers under ours."""
        out, columns = [], self.columns
        for line in self.lines:
            price = [line.complexity or "–"] if self.costs else []
            out.append([line.label, *price, *(line.cell(key) for key in columns)])
            if line.printed:
                found = (line.printed.get(key) for key in columns)
                paper = [
                    "–" if value is None else shown(key, value)
                    for key, value in zip(columns, found, strict=True)
                ]
                out.append(["  printed in the paper", *["–"] * len(price), *paper])
        return out

    def terminal(self) -> RenderableType:
        """For a terminal."""
        if not self.pointing:
            return self._table()
        return Group(self._table(), places_terminal("text and places", self.pointing))

    def _table(self) -> Table:
        caption = Text(self.note) if self.note else None
        table = Table(title=Text(self.title), caption=caption, title_justify="left")
        table.add_column("", no_wrap=True, overflow="fold")
        for heading in self.headings[1:]:
            table.add_column(heading, justify="right")
        for row in self.rows():
            table.add_row(*map(Text, row), style="dim" if row[0].startswith(" ") else None)
        return table

    def markdown(self) -> str:
        """For a document."""
        ruler = ["---", *["---:"] * (len(self.headings) - 1)]
        lines = [self.headings, ruler, *self.rows()]
        body = "\n".join("| " + " | ".join(cell.strip() for cell in line) + " |" for line in lines)
        table = f"**{self.title}**\n\n{body}\n\n{self.note}\n"
        return table + (f"\n{places_markdown(self.pointing)}" if self.pointing else "")

    def record(self) -> dict[str, Any]:
        """For machines: every seed, unrounded."""
        rows = [
            {"label": line.label, "seeds": list(line.seeds), "printed": dict(line.printed)}
            for line in self.lines
        ]
        record = {"title": self.title, "paper": self.paper, "note": self.note, "rows": rows}
        pointing = [result.to_dict() for result in self.pointing]
        return record | ({"pointing": pointing} if pointing else {})
