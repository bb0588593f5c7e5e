"""`deixis attention` as one HTML page and a drawing per pair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxtyping import Float
from numpy import ndarray

from deixis.explanation.attention_view import AttentionView, attention_views, mean_gate, pairs_of
from deixis.files import write_atomic
from deixis.pages.figures.attention_panels import (
    attention_sheet,
    gate_panels,
    region_panels,
    word_panels,
)
from deixis.pages.figures.image_sheet import Panel
from deixis.pages.render import render
from deixis.runs.run import Run


@dataclass(frozen=True)
class AttentionTable:
    """Attention as numbers: row names, column names and the shares."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    shares: Sequence[Sequence[float]]


@dataclass(frozen=True)
class AttentionSection:
    """One pair of a picture and a text on the page."""

    view: AttentionView
    panels: Sequence[tuple[str, Sequence[Panel]]]
    tables: Sequence[AttentionTable]


def draw_attention(
    run: Run, pairs: Sequence[str], folder: Path
) -> tuple[list[AttentionView], Path]:
    """What a run attends to in pictures and their texts, drawn into a folder; also the page."""
    views = attention_views(run.matcher, pairs_of(pairs))
    return views, write_attention(folder, run, views)


def write_attention(folder: Path, run: Run, views: Sequence[AttentionView]) -> Path:
    """Write one page, and beside it a PNG file per pair; returns the page."""
    for number, view in enumerate(views, 1):
        write_atomic(folder / f"{number}.png", attention_sheet(view).content("png"))
    measures = run.metrics["measures"] if run.finished else {}
    page = folder / "index.html"
    write_atomic(page, attention_page(f"{run.name}: attention", views, measures).encode())
    return page


def attention_page(
    title: str, views: Sequence[AttentionView], measures: Mapping[str, float]
) -> str:
    """The whole page; the measures of a run hold its mean gates over the test split."""
    judged = (measures.get("gate"), measures.get("gate_swapped"))
    return render(
        "attention",
        title=title,
        sections=[section(view) for view in views],
        gates=[mean_gate(views, given=given) for given in (True, False)],
        judged=None if None in judged else [value / 100 for value in judged if value is not None],
    )


def section(view: AttentionView) -> AttentionSection:
    """Panels and tables of one pair, without those the method does not have."""
    panels = [
        ("Gates", gate_panels(view)),
        ("Where each word looks", word_panels(view)),
        ("The words each region attends to most", region_panels(view)),
    ]
    regions = [f"region {number}" for number in range(1, len(view.boxes) + 1)]
    tables = [
        *_table("Text to image", view.words, regions, view.to_regions),
        *_table("Image to text", regions, view.words, view.to_words),
    ]
    return AttentionSection(view, [(name, of) for name, of in panels if of], tables)


def _table(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    shares: Float[ndarray, "row column"] | None,
) -> list[AttentionTable]:
    return [] if shares is None else [AttentionTable(title, rows, columns, shares.tolist())]
