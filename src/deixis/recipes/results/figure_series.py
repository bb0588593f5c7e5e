"""Figures of a recipe: measures while rows train, or over an option in which rows differ."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.errors import RecipeError, RunError
from deixis.recipes.recipe import Recipe
from deixis.recipes.recipe_parts import Figure, Row
from deixis.recipes.run_row import run_of
from deixis.runs.run import Run

EPOCHS = "epochs"

Values = Float[ndarray, "seed point"]


@dataclass(frozen=True)
class Series:
    """One measure along the axis of a figure, for every seed."""

    measure: str
    row: str  # its label; empty where the axis runs over rows
    x: Float[ndarray, " point"]
    values: Values


@dataclass(frozen=True)
class Drawn:
    """All a figure shows, and the places its axis names."""

    figure: Figure
    axis: str
    ticks: tuple[tuple[float, str], ...]
    series: tuple[Series, ...]


def drawn(recipe: Recipe, figure: Figure, runs: Path) -> Drawn:
    """Gather a figure from finished runs."""
    rows = [recipe.row(label) for label in figure.of] or list(recipe.rows)
    for row in rows:
        for seed in recipe.seeds:
            run = run_of(recipe, row, seed, runs)
            if not run.finished:
                raise RunError(
                    f"{run} is not a finished run; `deixis table` trains what is missing"
                )
    if figure.over == EPOCHS:
        return _over_epochs(recipe, figure, rows, runs)
    return _over_option(recipe, figure, rows, runs)


def _over_epochs(recipe: Recipe, figure: Figure, rows: list[Row], runs: Path) -> Drawn:
    series, last = [], 1.0
    for row in rows:
        logs = [_validations(run_of(recipe, row, seed, runs)) for seed in recipe.seeds]
        length = row.train.length
        if isinstance(length, int):
            raise RecipeError(f"row '{row.label}' trains {length} steps, not epochs; none to draw")
        last = max(last, float(length.split()[0]))
        x = np.array([share * float(length.split()[0]) for share, _ in logs[0]])
        for measure in figure.measures:
            values = [[_value(found, measure) for _, found in log] for log in logs]
            series.append(Series(measure, row.label, x, np.array(values)))
    step = max(1, round(last / 8))
    ticks = tuple((float(n), str(n)) for n in range(0, int(last) + 1, step))
    return Drawn(figure, "epoch", ticks, tuple(series))


def _over_option(recipe: Recipe, figure: Figure, rows: list[Row], runs: Path) -> Drawn:
    for row in rows:
        if not hasattr(row.method, figure.over):
            name = row.method.name
            raise RecipeError(f"row '{row.label}': method '{name}' has no option '{figure.over}'")
    x = np.arange(len(rows), dtype=np.float64)
    ticks = [(float(n), f"{getattr(row.method, figure.over):g}") for n, row in enumerate(rows)]
    folders = [[run_of(recipe, row, seed, runs) for row in rows] for seed in recipe.seeds]
    found = [[run.metrics for run in of] for of in folders]
    series = tuple(
        Series(
            measure,
            "",
            x,
            np.array([[_value(run["measures"], measure) for run in of] for of in found]),
        )
        for measure in figure.measures
    )
    return Drawn(figure, figure.over, tuple(ticks), series)


def _validations(run: Run) -> list[tuple[float, dict[str, float]]]:
    """How far a run had come at each validation, as a share, and what it measured."""
    records: list[dict[str, Any]] = [
        json.loads(line) for line in run.path("log").read_text(encoding="utf-8").splitlines()
    ]
    steps = max(record["step"] for record in records)
    found = [(r["step"] / steps, r["measures"]) for r in records if "measures" in r]
    if not found:
        log = run.path("log")
        raise RunError(f"{log} holds no measures over epochs; delete the run, train it again")
    return found


def _value(measures: dict[str, float], name: str) -> float:
    if name not in measures:
        listed = ", ".join(sorted(measures))
        raise RecipeError(
            f"a figure asks for '{name}', which was not measured; there are: {listed}"
        )
    return measures[name]
