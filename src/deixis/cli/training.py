"""What training verbs share: a recipe's rows run with progress shown."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import torch

from deixis.cli.progress import Bars, console, training
from deixis.data.corpus import Corpus
from deixis.data.scenes.oracle import place_blind_recall
from deixis.recipes.derive import derive
from deixis.recipes.judging import JUDGINGS
from deixis.recipes.prepare import Prepared, prepare
from deixis.recipes.recipe import DataSpec, Derived, Recipe, Row
from deixis.recipes.run import RowRun, run_folder, run_row
from deixis.recipes.table import Line, Report


def run_recipe(
    path: Path, overrides: Sequence[str], runs: Path, *, tiny: bool, threads: int
) -> tuple[Recipe, Report]:
    """Run every row and seed of a recipe; finished ones are read back."""
    torch.set_num_threads(threads)
    recipe = Recipe.load(path, overrides)
    recipe = recipe.tiny() if tiny else recipe
    prepare_once = cache(prepare_with_progress)
    lines = _without_learning(recipe, prepare_once(recipe.rows[0].data).splits["test"].corpus)
    for row in recipe.rows:
        prepared = prepare_once(row.data)
        results = [run_one(recipe, row, seed, prepared, runs).result for seed in recipe.seeds]
        timed = [result.get("costs", {}) if recipe.costs else {} for result in results]
        seeds = tuple({**t, **r["measures"]} for t, r in zip(timed, results, strict=True))
        complexity = row.method.model(prepared.sizes).similarity.complexity if recipe.costs else ""
        lines.append(Line(row.label, seeds, row.printed, complexity))
    lines += [derived_line(recipe, line, prepare_once, runs) for line in recipe.derived]
    made = Report(recipe.title, recipe.paper, recipe.note, tuple(lines), recipe.costs)
    return recipe, made


def _without_learning(recipe: Recipe, test: Corpus) -> list[Line]:
    """What chance reaches and, on simulated narrations, a perfect reader that ignores places."""
    lines = [Line("chance", (JUDGINGS[recipe.judge].chance(test),), {})]
    data = recipe.rows[0].data
    if data.corpus == "scenes" and data.texts == "narrations":
        blind = {f"t2i_hit@{k}": 100 * share for k, share in place_blind_recall(test).items()}
        lines.append(Line("perfect reader, blind to place", (blind,), {}))
    return lines


def derived_line(
    recipe: Recipe, derived: Derived, prepared: Callable[[DataSpec], Prepared], runs: Path
) -> Line:
    """Measure a line that needs no training; one seed at a time when a single row is named."""
    rows = [recipe.row(label) for label in derived.of]
    groups = [
        [(run_folder(recipe, row, seed, runs), prepared(row.data)) for row in rows]
        for seed in recipe.seeds
    ]
    if len(rows) > 1 and not derived.rerank:
        groups = [[run for group in groups for run in group]]
    return Line(derived.label, tuple(derive(derived, group) for group in groups), derived.printed)


def run_one(recipe: Recipe, row: Row, seed: int, prepared: Prepared, runs: Path) -> RowRun:
    """Run one row with one seed, with a bar."""
    folder = run_folder(recipe, row, seed, runs)
    with training(f"{row.label}, seed {seed}") as tell:
        return run_row(recipe, row, seed, prepared, folder, tell)


def prepare_with_progress(data: DataSpec) -> Prepared:
    """Prepare a recipe's data with one bar for each thing done."""
    with Bars() as bars:
        prepared = prepare(data, bars.advance)
    sizes = {name: (len(d.images), len(d.texts)) for name, d in prepared.splits.items()}
    described = ", ".join(f"{name} {i} images {t} texts" for name, (i, t) in sizes.items())
    console.print(f"{data.corpus}: {described}", highlight=False)
    return prepared
