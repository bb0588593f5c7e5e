"""Train one row of a recipe into a run folder, or find it there already."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from deixis.encoders.gru import start_words
from deixis.errors import RunError
from deixis.features.files import write_atomic, write_json
from deixis.methods.matcher import WEIGHTS, Matcher, RunConfig
from deixis.methods.model import Model
from deixis.methods.tuning import attach_towers
from deixis.recipes.card import model_card
from deixis.recipes.judging import JUDGINGS
from deixis.recipes.prepare import Prepared
from deixis.recipes.recipe import Recipe, Row
from deixis.recipes.rounds import batches_of, mined_by
from deixis.training.checkpoint import read_tensors
from deixis.training.loop import Fit, Tell
from deixis.training.precision import best_device

RESOLVED = "recipe.json"  # the row as it was resolved, overrides included


@dataclass(frozen=True)
class RowRun:
    """One row with one seed: where it lies and what it scored."""

    folder: Path
    result: Mapping[str, Any]


def run_row(
    recipe: Recipe, row: Row, seed: int, prepared: Prepared, folder: Path, tell: Tell
) -> RowRun:
    """Train, choose by the validation split, evaluate on the test split, save.

    A finished run is read back, never repeated; an unfinished one goes on where it stopped.
    """
    metrics = folder / "metrics.json"
    claim(folder, row, seed)
    if metrics.exists():
        return RowRun(folder, json.loads(metrics.read_text(encoding="utf-8")))
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    sizes = prepared.sizes
    model, objective = row.method.model(sizes), row.method.objective(sizes)
    model = attach_towers(model, row.data.image, row.data.text)
    if prepared.vectors is not None:
        start_words(model.text, prepared.vectors)
    if row.start:
        begin(model, row, earlier_run(recipe, row.start, seed, folder))
    device = best_device()
    model, objective = model.to(device), objective.to(device)
    train, val = prepared.splits["train"], prepared.splits["val"]
    judging = JUDGINGS[recipe.judge]
    mined = None
    if row.offline is not None:
        mined = mined_by(earlier_run(recipe, row.offline.by, seed, folder), row.offline, train)
    fit = Fit(
        model=model,
        objective=objective,
        batches=batches_of(row.train, train, seed, sizes.vocabulary, mined),
        spec=row.train,
        seed=seed,
        folder=folder,
        validate=lambda trained: judging.validate(trained, val).measures,
        headline=judging.headline,
    )
    fit.run(tell)
    model = model.cpu()  # runs are written and judged alike wherever they were trained
    model.load_state_dict(read_tensors(folder / "best.safetensors")[0])
    config = RunConfig(row.options, sizes, row.data.image, row.data.text, recipe.name, seed)
    Matcher(model, config, prepared.vocabulary).save(folder)
    result = judging.evaluate(model, prepared.splits["test"])
    result.save_ranks(folder)
    card = model_card(recipe, row, seed, result.to_dict())
    write_atomic(folder / "README.md", card.encode())
    write_json(metrics, result.to_dict())
    for leftover in ("best.safetensors", "state.safetensors"):
        (folder / leftover).unlink()
    return RowRun(folder, result.to_dict())


def run_folder(recipe: Recipe, row: Row, seed: int, runs: Path) -> Path:
    """Where a row with a seed is kept."""
    return runs / recipe.name / f"{slug(row.label)}-{seed}"


def slug(label: str) -> str:
    """A label as a folder's name.

    >>> slug("SCAN t→i, LSE")
    'scan-t-i-lse'
    """
    return re.sub(r"[^a-z0-9+]+", "-", label.lower()).strip("-") or "row"


def earlier_run(recipe: Recipe, label: str, seed: int, folder: Path) -> Path:
    """The run of an earlier row that a row builds on, which must be finished."""
    earlier = run_folder(recipe, recipe.row(label), seed, folder.parents[1])
    if not (earlier / "metrics.json").exists():
        raise RunError(
            f"this row builds on row '{label}', which is not trained: {earlier} is not a finished "
            f"run. Train it first (deixis train … --row '{label}'), or let `deixis table` run all "
            "rows in order"
        )
    return earlier


def begin(model: Model, row: Row, earlier: Path) -> None:
    """Give a model the weights of an earlier stage; what that stage lacks stays as it starts."""
    weights = read_tensors(earlier / WEIGHTS)[0]
    if row.take:
        weights = {name: value for name, value in weights.items() if name.startswith(row.take)}
    try:
        unknown = model.load_state_dict(weights, strict=False).unexpected_keys
    except RuntimeError as error:
        raise RunError(f"{earlier / WEIGHTS} does not fit row '{row.label}': {error}") from error
    if unknown:
        raise RunError(f"{earlier / WEIGHTS} does not fit row '{row.label}': it has {unknown[0]}")


def claim(folder: Path, row: Row, seed: int) -> None:
    """Write down what a run folder is for, or refuse one that was made for something else."""
    record = {
        "row": row.label,
        "seed": seed,
        "method": dict(row.options),
        "data": asdict(row.data),
        "train": asdict(row.train),
    }
    if row.start:
        record["start"] = row.start
    if row.take:
        record["take"] = list(row.take)
    if row.offline:
        record["offline"] = asdict(row.offline)
    path = folder / RESOLVED
    if not path.exists():
        write_json(path, record)
        return
    found = json.loads(path.read_text(encoding="utf-8"))
    wanted = json.loads(json.dumps(record))
    for key in wanted:
        if found.get(key) != wanted[key]:
            raise RunError(
                f"{folder} holds a run with another {key}: {found.get(key)}; now {wanted[key]}. "
                "Delete it or keep these runs elsewhere (--runs)"
            )
