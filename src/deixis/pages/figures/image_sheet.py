"""Pictures with captions in rows and columns, as one drawing."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib import rc_context
from matplotlib.axes import Axes
from PIL import Image

from deixis.pages.figures.chart import INK, SOFT, STYLE, Chart, styled

PANEL = 1.65  # inches
LINE = 22  # characters of a caption's line


@dataclass(frozen=True)
class Panel:
    """A picture with a caption and a note, or only a text."""

    image: Image.Image | None
    caption: str
    note: str = ""


@rc_context(STYLE)
def image_sheet(rows: Sequence[Sequence[Panel]], heading: str) -> Chart:
    """Draw rows of panels under a heading; a row may end early."""
    columns = max(len(row) for row in rows)
    figure = styled(max(PANEL * columns, 5.0), (PANEL + 0.4) * len(rows) + 0.4)
    figure.suptitle(textwrap.shorten(heading, 30 * columns, placeholder=" …"), x=0.02, ha="left")
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for row, places in zip(rows, grid, strict=True):
        for axes in places:
            axes.axis("off")
        for panel, axes in zip(row, places, strict=False):
            _draw(axes, panel)
    return Chart(figure, heading)


def _draw(axes: Axes, panel: Panel) -> None:
    caption, note = (textwrap.fill(text, LINE) for text in (panel.caption, panel.note))
    if panel.image is None:
        axes.text(0.0, 1.0, caption, color=INK[0], va="top")
        axes.text(0.0, 0.0, note, color=SOFT[0], va="bottom")
        return
    axes.imshow(panel.image)
    axes.set_title(caption, fontsize=8.5, pad=4)
    axes.text(0.0, -0.03, note, color=SOFT[0], va="top", size=7.5, transform=axes.transAxes)
