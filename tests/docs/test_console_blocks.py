"""Every console block of README and docs: run here, or listed below with what it would need.

Whatever is listed is still parsed, and so are commands inside sentences and tables: a verb, an
option or a recipe that is gone fails the test.
"""

import os
import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
import typer
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs
from deixis.data.simulated.scenes import write_scenes
from deixis.recipes.recipe import Recipe
from made import made_pictures

load_verbs()
ROOT = Path(__file__).parents[2]
FRONT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES = [*FRONT, *sorted((ROOT / "docs").rglob("*.md"))]
TYPED_ELSEWHERE = {"what-to-type.md"}  # test_what_to_type.py runs them on official layouts

# What only a user has, or what does not end by itself: a pattern, and why it is not run here.
NOT_RUN = {
    r"hf:PATH|model_best\.pth\.tar|runs/(clip|scan)\b": "a checkpoint",
    r"PATH|data/f30k_precomp|recipes/scan\.toml": "a benchmark's data",
    r"--model OTHER": "another model",
    r"RUNS/|deixis (failures|attention) RUN|label-folds": "runs of label or attention methods",
    r"^deixis (serve|demo)\b|^DEIXIS_TOKEN=|^curl ": "a server: tests/serve, test_demo",
    r"--cluster |s3://": "a cluster or a bucket: tests/scale",
    r"--watch": "a folder that changes: tests/search/test_folder_watch.py",
    r"^pip install ": "an installation: tests/release",
    r"^(make|python -m benchmarks|pytest|torchrun) ": "the repository's own tools",
    r"(camp|camp_scenes|labels_scenes|dive_scenes|trace_claim)\.toml": "minutes: tests/recipes",
    r"runs/pointing|narration\.jsonl|recipes/pointing\.toml": "minutes: tests/cli/test_demo.py",
}
# What a command becomes at a small size; runs named by a capital word are the two trained ones.
SMALLER = [
    (r"recipes/tiny\.toml(?!.*(--tiny|photos))", r"recipes/tiny.toml --tiny"),
    (r"(.*data\.corpus=photos.*)", r"\1 --rehearse"),
    (r"--images 1600", "--images 60"),
    (r"SLOW_RUN", "runs/tiny/vse++-0"),
    (r"FAST_RUN", "runs/tiny/vse0-0"),
    (r"\bRUN RUN RUN\b", "runs/tiny/vse++-0 runs/tiny/vse0-0"),
    (r"\bRUN RUN\b", "runs/tiny/vse++-0 runs/tiny/vse0-0"),
    (r"\bRUN\b", "runs/tiny/vse++-0"),
    (r" > \S+$", ""),
]


def commands(page: Path) -> list[str]:
    """The commands of a page's console blocks, in order, without their comments."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            found.append(re.sub(r"\s+# .*", "", command).strip())
    return found


ALL = [
    (str(page.relative_to(ROOT)), command)
    for page in PAGES
    if page.name not in TYPED_ELSEWHERE
    for command in commands(page)
]
RUN = [pair for pair in ALL if not any(re.search(pattern, pair[1]) for pattern in NOT_RUN)]


def words(command: str) -> list[str]:
    return [os.path.expanduser(word) for word in shlex.split(command)]


def test_there_are_blocks_and_most_patterns_are_needed():
    assert len(ALL) > 60 and len(RUN) > 25 and len(INLINE) > 60
    for pattern in NOT_RUN:
        assert any(re.search(pattern, command) for _, command in ALL), f"{pattern} is not needed"


def parsed(arguments: list[str]) -> click.Context:
    """What the command makes of its arguments, without running it."""
    context = typer.main.get_command(app).make_context("deixis", arguments)
    while isinstance(context.command, click.Group):
        rest = [*context._protected_args, *context.args]
        verb, below, rest = context.command.resolve_command(context, rest)
        context = below.make_context(verb, rest, parent=context)
    return context


@pytest.mark.parametrize(("page", "command"), [pair for pair in ALL if " deixis " in f" {pair[1]}"])
def test_a_command_is_one_that_exists(page, command):
    arguments = words(command)
    arguments = arguments[arguments.index("deixis") + 1 :]
    named = parsed([a for a in arguments if a != "&"]).params
    if "recipe" in named:
        recipe = Recipe.load(ROOT / named["recipe"], tiny=True)
        assert not named.get("row") or recipe.row(named["row"])


INLINE = [
    (str(page.relative_to(ROOT)), command)
    for page in PAGES
    for command in re.findall(r"`deixis ([a-z-][^`]*)`", page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("page", "command"), sorted(set(INLINE)))
def test_a_command_inside_a_sentence_exists(page, command):
    try:
        parsed(words(re.sub(r"\s+", " ", command)))
    except click.MissingParameter:
        pass  # a sentence may name a verb without what it needs; the verb and its options exist
    except click.exceptions.Exit:
        pass  # --version


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A home with pictures, a library, a captioned corpus, and the runs of the tiny recipe."""
    home = tmp_path_factory.mktemp("home")
    made_pictures(home / "Pictures", 3)
    shutil.copy(home / "Pictures" / "0.png", home / "dog.jpg")
    (home / "recipes").symlink_to(ROOT / "recipes")
    shutil.copytree(write_scenes(home / "made", images=24), home / "photos")
    runs = home / "runs"
    Recipe.load("tiny", tiny=True).run(runs)
    shutil.copytree(runs / "tiny-tiny", runs / "tiny")
    done = CliRunner().invoke(app, ["index", str(home / "Pictures"), "-l", str(home / "library")])
    assert done.exit_code == 0, done.output
    return home


@pytest.mark.parametrize(("page", "command"), RUN)
def test_a_command_runs(page, command, place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOME", str(place))
    for pattern, smaller in SMALLER:
        command = re.sub(pattern, smaller, command)
    program, *arguments = words(command)
    assert program == "deixis", f"{page}: list '{command}' in NOT_RUN, or let it run"
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code in (0, 3), done.output  # 3: finished, something needs attention
