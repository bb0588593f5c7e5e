"""What verbs print: lines and tables for people, JSON for machines; brackets stay as they are."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deixis.cli.shared.visible_text import visible

# Written to a file or a pipe, a table keeps its own width; no column is cut to fit a terminal.
output = Console(width=None if sys.stdout.isatty() else 240)


def say(line: str, *, mark: str = "", style: str = "") -> None:
    """Print a line as it is, never broken by the terminal's width; a mark stands before it."""
    parts = [(f"{visible(mark)}  ", "yellow")] if mark else []
    output.print(Text.assemble(*parts, (visible(line), style)), soft_wrap=True)


def print_json(value: Any) -> None:
    """Print plain values as JSON; paths become text."""
    if not output.quiet:
        text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
        print(text if _is_harmless(text, kept="\n") else json.dumps(value, indent=2, default=str))


def print_raw(line: str) -> None:
    """Print a line for other tools byte by byte; on a terminal, controls are spelt out."""
    print(line if _is_harmless(line) else visible(line))


def _is_harmless(text: str, kept: str = "") -> bool:
    """Whether a text can be written to the output and moves no cursor there."""
    try:
        text.encode()
    except UnicodeEncodeError:  # unpaired surrogates, of a file name that is not UTF-8
        return False
    return not sys.stdout.isatty() or visible(text, kept) == text


def print_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: the first column to the left, the others to the right."""
    table = Table(title=Text(visible(title)), title_justify="left")
    for place, heading in enumerate(headings):
        table.add_column(Text(visible(heading)), justify="right" if place else "left")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    output.print(table)
