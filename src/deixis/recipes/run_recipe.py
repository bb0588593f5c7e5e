"""A whole recipe: every row and seed trained or read back, then the table."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from deixis.data.corpus import Corpus
from deixis.data.simulated.scenes.place_blind_reader import place_blind_recall
from deixis.evaluation.places.places_result import PlacesResult
from deixis.evaluation.protocol_table import PROTOCOLS
from deixis.files import make_folder
from deixis.recipes.events import Counted, DataReady, OnEvent, Stepped, unheard
from deixis.recipes.pointing.judge_pointing import judge_pointing
from deixis.recipes.recipe import Recipe
from deixis.recipes.recipe_parts import Derived, Row
from deixis.recipes.results.derived import derive
from deixis.recipes.results.printed_table import Line, Report, with_flops_ratios
from deixis.recipes.run_row import earlier_run, run_folder, run_of, run_row
from deixis.runs.data_spec import DataSpec
from deixis.runs.places.take_place_head import take_place_head
from deixis.runs.prepare import Prepared, prepare
from deixis.runs.run import Run
from deixis.runs.training_bank import training_bank
from deixis.training.processes import first_leads

Prepare = Callable[[DataSpec], Prepared]


def run_recipe(recipe: Recipe, runs: Path, on_event: OnEvent = unheard) -> Report:
    """Run every row and seed of a recipe; finished ones are read back."""
    make_folder(runs)  # before hours are spent on what could not be written there
    prepare_once: Prepare = cache(lambda data: _prepared(recipe, data, on_event))
    lines = without_learning(recipe, prepare_once(recipe.rows[0].data).splits["test"].corpus)
    for row in recipe.rows:
        done = [_train(recipe, row, seed, runs, prepare_once, on_event) for seed in recipe.seeds]
        lines.append(_line(recipe, row, [run.metrics for run in done], prepare_once))
    lines += [_derived_line(recipe, line, prepare_once, runs) for line in recipe.derived]
    pointing = _pointing(recipe, runs, on_event)
    table = with_flops_ratios(lines)
    return Report(recipe.title, recipe.paper, recipe.note, table, recipe.costs, pointing)


def train_row(
    recipe: Recipe, label: str, seed: int, runs: Path, on_event: OnEvent = unheard
) -> Run:
    """Run one row with one seed; the first row when no label is given."""
    make_folder(runs)
    row = _with_parts(recipe, recipe.row(label) if label else recipe.rows[0], seed, runs)
    prepared = first_leads(lambda: _prepared(recipe, row.data, on_event))
    return _train(recipe, row, seed, runs, lambda data: prepared, on_event)


def without_learning(recipe: Recipe, test: Corpus) -> list[Line]:
    """Chance and, on simulated narrations, the most that text alone allows."""
    lines = [Line("chance", (PROTOCOLS[recipe.judge].chance(test),), {})]
    data = recipe.rows[0].data
    if data.corpus == "scenes" and data.texts == "narrations":
        blind = {f"t2i_hit@{k}": 100 * share for k, share in place_blind_recall(test).items()}
        lines.append(Line("upper bound without place information", (blind,), {}))
    return lines


def _pointing(recipe: Recipe, runs: Path, on_event: OnEvent) -> tuple[PlacesResult, ...]:
    """Two rows of each seed judged together, where the recipe asks for it."""
    pointing = recipe.pointing
    if pointing is None:
        return ()
    text, places = recipe.row(pointing.text), recipe.row(pointing.places)

    def advance(what: str, done: int, total: int) -> None:
        on_event(Counted(what, done, total))

    def judged(seed: int) -> PlacesResult:
        run = run_of(recipe, text, seed, runs)
        head = take_place_head(run_of(recipe, places, seed, runs), advance)
        bank = None
        if pointing.bank:
            train = run.dataset(run.data.train, advance=advance)
            bank = training_bank(run.matcher.model, train)
        return judge_pointing(run, head, advance=advance, bank=bank)

    return tuple(map(judged, recipe.seeds))


def _prepared(recipe: Recipe, data: DataSpec, on_event: OnEvent) -> Prepared:
    def advance(what: str, done: int, total: int) -> None:
        on_event(Counted(what, done, total))

    prepared = prepare(data, advance, recipe.first)
    sizes = {name: (len(d.images), len(d.texts)) for name, d in prepared.splits.items()}
    on_event(DataReady(data.corpus, sizes))
    return prepared


def _train(
    recipe: Recipe, row: Row, seed: int, runs: Path, prepared: Prepare, on_event: OnEvent
) -> Run:
    folder, row = run_folder(recipe, row, seed, runs), _with_parts(recipe, row, seed, runs)
    return run_row(
        recipe,
        row,
        seed,
        prepared(row.data),
        folder,
        lambda record: on_event(Stepped(row.label, seed, record)),
    )


def _with_parts(recipe: Recipe, row: Row, seed: int, runs: Path) -> Row:
    """The row with its data complete: a place head may read the parts of an earlier row's run."""
    if row.places is None:
        return row
    earlier = earlier_run(recipe, row.places.of, seed, run_folder(recipe, row, seed, runs))
    return replace(row, data=replace(row.data, parts_of=str(earlier)))


def _line(recipe: Recipe, row: Row, metrics: list[dict[str, Any]], prepared: Prepare) -> Line:
    timed = [found.get("costs", {}) if recipe.costs else {} for found in metrics]
    seeds = tuple({**t, **m["measures"]} for t, m in zip(timed, metrics, strict=True))
    complexity = ""
    if recipe.costs:
        complexity = row.method.model(prepared(row.data).sizes).similarity.complexity
    return Line(row.label, seeds, row.printed, complexity)


def _derived_line(recipe: Recipe, derived: Derived, prepared: Prepare, runs: Path) -> Line:
    """Measure a line that needs no training, one seed at a time or all seeds together."""
    rows = [recipe.row(label) for label in derived.of]
    groups = [
        [(run_of(recipe, row, seed, runs), prepared(row.data)) for row in rows]
        for seed in recipe.seeds
    ]
    default = "together" if len(rows) > 1 and not derived.rerank else "apart"
    if (derived.seeds or default) == "together":
        groups = [[run for group in groups for run in group]]
    seeds = tuple(derive(derived, group, recipe.judge) for group in groups)
    return Line(derived.label, seeds, derived.printed)
