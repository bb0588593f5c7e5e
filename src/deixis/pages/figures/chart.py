"""What every chart shares: its style, and how it is written as SVG, PNG or PDF."""

import io
import re
from dataclasses import dataclass
from typing import Any, Literal

from deixis.extras import need

need("matplotlib", "report")

from matplotlib import rc_context  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

Format = Literal["svg", "png", "pdf"]

# Colours on light paper and on dark; neighbours differ in lightness too, for colour-blind readers.
INK, SOFT, GRID = ("#1c1b19", "#ecebe8"), ("#66625b", "#a3a09a"), ("#dedad3", "#34343a")
SERIES = (
    ("#2563d9", "#7aa5ff"),
    ("#c8402c", "#ff8d78"),
    ("#1b7f4d", "#5fd39a"),
    ("#a86400", "#f2b54a"),
    ("#8b3fc4", "#cf9bff"),
    ("#067d8f", "#4fd0e2"),
    ("#b3266e", "#ff86bd"),
    ("#77736c", "#9a978f"),
)
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.titlesize": 11.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 12.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.edgecolor": GRID[0],
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": GRID[0],
    "grid.linewidth": 0.8,
    "text.color": INK[0],
    "axes.labelcolor": SOFT[0],
    "xtick.color": SOFT[0],
    "ytick.color": SOFT[0],
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
    "xtick.major.pad": 6.0,
    "legend.frameon": False,
    "legend.handlelength": 3.4,
    "figure.constrained_layout.h_pad": 0.12,
    "figure.constrained_layout.w_pad": 0.12,
    "svg.fonttype": "none",
    "svg.hashsalt": "deixis",  # the same chart is the same file
    "pdf.fonttype": 42,
}


def colour(number: int) -> str:
    """One of the series' colours, repeated after the last."""
    return SERIES[number % len(SERIES)][0]


def styled(width: float, height: float) -> Figure:
    """An empty figure, its size in inches; draw on it within ``rc_context(STYLE)``."""
    return Figure(figsize=(width, height), layout="constrained")


@dataclass(frozen=True)
class Chart:
    """A finished drawing and what it shows, in words."""

    figure: Figure
    alt: str

    def content(self, form: Format) -> bytes:
        """The chart as a file."""
        content = io.BytesIO()
        empty = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
        metadata = empty.get(form, {"CreationDate": None, "Producer": None, "Creator": None})
        with rc_context(STYLE):
            self.figure.savefig(content, format=form, dpi=144, metadata=metadata)
        return themed(content.getvalue()) if form == "svg" else content.getvalue()


def themed(svg: bytes) -> bytes:
    """An SVG whose colours follow the reader's light or dark setting."""
    pairs = (INK, SOFT, GRID, ("#ffffff", "#1d1d20"), *SERIES)
    text = svg.decode()
    for number, (light, _) in enumerate(pairs):
        text = text.replace(light, f"var(--c{number})")
    light, dark = (
        ";".join(f"--c{number}:{pair[which]}" for number, pair in enumerate(pairs))
        for which in (0, 1)
    )
    rules = f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    return text.replace('<style type="text/css">', f"<style>{rules}", 1).encode()
