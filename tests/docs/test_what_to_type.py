"""The page "I have this corpus": its folders are those of the layouts, its commands run on them.

Commands that train run as rehearsals here; the runs they leave are called accordingly. Of a table
they train the first row, and on to the last that a command of the page names; all rows of all
tables run on the same layouts in ``tests/recipes/test_recipes_on_layouts.py``.
"""

import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs
from deixis.evaluation.protocols import coco_judgements
from deixis.recipes.recipe import Recipe
from deixis.recipes.run_row import run_folder
from layouts.coco_annotations import write_coco2017
from layouts.eccv_caption import write_eccv_caption
from layouts.entities import write_flickr30k_entities
from layouts.flickr8k import write_published_flickr8k
from layouts.of_recipes import CORPORA, TOWERS
from layouts.own_photographs import write_own_photographs

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/start/what-to-type.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.+?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
LAYOUTS = {
    **CORPORA,
    **TOWERS,
    "data/coco2017": write_coco2017,
    "data/flickr30k_entities": write_flickr30k_entities,
    "flickr8k": write_published_flickr8k,
    "photos": write_own_photographs,
}
TRAINING = ("table", "train")

load_verbs()


def blocks(section: str, kind: str) -> list[str]:
    """The lines of a section's blocks of one kind."""
    found = re.findall(rf"^```{kind}\n(.*?)^```", SECTIONS[section], re.MULTILINE | re.DOTALL)
    return [line for block in found for line in block.splitlines() if line]


def folder_of(path: str) -> str:
    """The corpus a path of the page lies in."""
    found = [name for name in LAYOUTS if path == name or path.startswith(f"{name}/")]
    assert len(found) == 1, f"{path} lies in no corpus with a layout"
    return found[0]


@pytest.mark.parametrize("section", SECTIONS)
def test_the_commands_run_on_the_folder_as_it_unpacks(section, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))
    judgements = write_eccv_caption(tmp_path / "eccv_caption")
    monkeypatch.setattr(coco_judgements, "_data_folder", lambda: judgements)
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    shown = blocks(section, "text")
    for folder in dict.fromkeys(map(folder_of, shown)):
        (tmp_path / folder).parent.mkdir(exist_ok=True)
        LAYOUTS[folder](tmp_path / folder)
    assert [path for path in shown if not (tmp_path / path).exists()] == []
    commands = blocks(section, "console")
    assert commands
    for command in commands:
        with monkeypatch.context() as patch:
            if command.startswith("$ deixis table "):
                patch.setattr(Recipe, "rehearsal", first_rows(Recipe.rehearsal, commands))
            run(command)


def first_rows(
    rehearsal: Callable[[Recipe], Recipe], commands: list[str]
) -> Callable[[Recipe], Recipe]:
    """A rehearsal of the first row of a table, and on to the last whose run a command names."""

    def of_first_rows(recipe: Recipe) -> Recipe:
        whole = rehearsal(recipe)
        runs = [run_folder(recipe, row, 0, Path("runs")).name for row in whole.rows]
        named = [n for n, run in enumerate(runs) if any(f"/{run}" in line for line in commands)]
        return replace(whole, rows=whole.rows[: max(named, default=0) + 1], derived=(), figures=())

    return of_first_rows


def run(command: str) -> None:
    """Run one command of the page; what would train for long is rehearsed."""
    prompt, program, *arguments = shlex.split(command)
    assert (prompt, program) == ("$", "deixis")
    if arguments[0] in TRAINING and "--rehearse" not in arguments:
        arguments.append("--rehearse")
    arguments = [re.sub(r"^runs/(\w+)/", r"runs/\1-rehearsal/", word) for word in arguments]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, f"{command}\n{result.output}"
