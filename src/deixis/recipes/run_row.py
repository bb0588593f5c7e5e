"""Train one row of a recipe into a run folder, or find it there already."""

import json
import re
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import torch

from deixis.data.batches.mined import OfflineSpec
from deixis.data.negatives.released_negatives import holds_released_lists, read_released_lists
from deixis.encoders.text.gru import init_word_vectors
from deixis.errors import RunError
from deixis.evaluation.probes.scoring_cost import Scoring
from deixis.evaluation.protocol_table import PROTOCOLS
from deixis.features.words.vocabulary import Vocabulary
from deixis.files import locked, write_atomic, write_json
from deixis.losses.quintuplet import needs_partners
from deixis.methods.model import Model
from deixis.recipes.batching import Mined, batches_of, masking_of, mined_by
from deixis.recipes.recipe import Recipe
from deixis.recipes.recipe_parts import Row
from deixis.recipes.results.model_card import model_card
from deixis.runs.attach_towers import attach_towers
from deixis.runs.carry_words import carry_words
from deixis.runs.embed_dataset import encode
from deixis.runs.export.int8_weights import expand
from deixis.runs.matcher import Matcher
from deixis.runs.prepare import Prepared
from deixis.runs.run import Run, RunFile
from deixis.runs.run_config import RunConfig
from deixis.training.checkpoint import read_tensors
from deixis.training.loop import Fit, OnRecord
from deixis.training.precision import best_device
from deixis.training.processes import first_leads, leads, wait_for_all

Weights = dict[str, torch.Tensor]  # by the parameter's name
SCAFFOLD: tuple[RunFile, ...] = ("best", "state", "state_before")  # only until a run is finished


def run_row(
    recipe: Recipe, row: Row, seed: int, prepared: Prepared, folder: Path, on_record: OnRecord
) -> Run:
    """Train, choose by the validation split, evaluate on the test split, save.

    A finished run is read back, never repeated; an unfinished one goes on where it stopped.
    """
    run = Run(folder)
    with locked(folder / ".lock", seconds=1.0) if leads() else nullcontext():
        first_leads(lambda: claim(run, row, seed))
        if not run.finished:
            _train(recipe, row, seed, prepared, run, on_record)
    return run


def _train(
    recipe: Recipe, row: Row, seed: int, prepared: Prepared, run: Run, on_record: OnRecord
) -> None:
    folder = run.folder
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(seed)
    sizes = prepared.sizes
    model, objective = row.method.model(sizes), row.method.objective(sizes)
    model = attach_towers(model, row.data.image, row.data.text)
    if prepared.vectors is not None:
        init_word_vectors(model.text, prepared.vectors)
    if row.start:
        begin(model, row, earlier_run(recipe, row.start, seed, folder), prepared.vocabulary)
    device = best_device()
    model, objective = model.to(device), objective.to(device)
    train, val = prepared.splits["train"], prepared.splits["val"]
    protocol = PROTOCOLS[recipe.judge]
    mined = None
    if row.offline is not None:
        mined = first_leads(partial(negatives_of, recipe, row.offline, seed, folder, prepared))
    partners = needs_partners(objective)
    masking = masking_of(row.data.text, sizes.vocabulary)
    fit = Fit(
        model=model,
        objective=objective,
        batches=batches_of(row.train, train, seed, masking, mined, partners=partners),
        spec=row.train,
        seed=seed,
        folder=folder,
        validate=lambda trained: protocol.validate(trained, val).measures,
        headline=protocol.headline,
    )
    fit.run(on_record)
    if leads():
        finish(recipe, row, seed, prepared, model, run)
    wait_for_all()


def finish(recipe: Recipe, row: Row, seed: int, prepared: Prepared, model: Model, run: Run) -> None:
    """Save the best weights, judge them on the test split, and mark the run as finished."""
    model = model.cpu()  # runs are written and judged alike wherever they were trained
    model.load_state_dict(read_tensors(run.path("best"))[0])
    config = RunConfig(
        row.options,
        prepared.sizes,
        row.data.image,
        row.data.text,
        recipe.name,
        seed,
        row.data.window,
    )
    Matcher(model, config, prepared.vocabulary).save(run.folder)
    result = PROTOCOLS[recipe.judge].evaluate(model, prepared.splits["test"])
    if recipe.cost_split:
        scoring = Scoring(model.similarity, *encode(model, prepared.splits[recipe.cost_split]))
        result = replace(result, costs=scoring.top_costs())
    result.save_ranks(run)
    card = model_card(recipe, row, seed, result.to_dict())
    write_atomic(run.path("card"), card.encode())
    write_json(run.path("metrics"), result.to_dict())
    for kind in SCAFFOLD:
        run.path(kind).unlink(missing_ok=True)


def run_of(recipe: Recipe, row: Row, seed: int, runs: Path) -> Run:
    """The run of a row with a seed, trained or not."""
    return Run(run_folder(recipe, row, seed, runs))


def run_folder(recipe: Recipe, row: Row, seed: int, runs: Path) -> Path:
    """Where a row with a seed is kept."""
    return runs / recipe.name / f"{slug(row.label)}-{seed}"


def slug(label: str) -> str:
    """A label as a folder's name.

    >>> slug("SCAN t→i, LSE")
    'scan-t-i-lse'
    """
    return re.sub(r"[^a-z0-9+]+", "-", label.lower()).strip("-") or "row"


def earlier_run(recipe: Recipe, label: str, seed: int, folder: Path) -> Run:
    """The run a row builds on: an earlier row's, which must be finished, or a run folder."""
    if recipe.names_folder(label):
        return Run(label)
    earlier = run_of(recipe, recipe.row(label), seed, folder.parents[1])
    if not earlier.finished:
        raise RunError(
            f"this row builds on row '{label}', which is not trained: {earlier} is not a finished "
            f"run. Train it first (deixis train … --row '{label}'), or let `deixis table` run all "
            "rows in order"
        )
    return earlier


def negatives_of(
    recipe: Recipe, spec: OfflineSpec, seed: int, folder: Path, prepared: Prepared
) -> Mined:
    """Negatives an earlier run mines, or those of a folder of released lists."""
    train = prepared.splits["train"]
    if recipe.names_folder(spec.by) and holds_released_lists(Path(spec.by)):
        return read_released_lists(Path(spec.by), train, spec.texts, spec.images), spec
    return mined_by(earlier_run(recipe, spec.by, seed, folder), spec, train, prepared.vocabulary)


def begin(model: Model, row: Row, earlier: Run, vocabulary: Vocabulary | None) -> None:
    """Give a model the weights of an earlier stage; what that stage lacks stays as it starts.

    Vectors of words go to the words, wherever these stand in this stage's vocabulary.
    """
    path = earlier.path("weights")
    weights = expand(read_tensors(path)[0])
    if vocabulary is not None:
        weights = carry_words(
            weights, model, Vocabulary.load(earlier.path("vocabulary")), vocabulary
        )
    if row.take:
        weights = taken(weights, row.take)
    try:
        unknown = model.load_state_dict(weights, strict=False).unexpected_keys
    except RuntimeError as error:
        raise RunError(f"{path} does not fit row '{row.label}': {error}") from error
    if unknown:
        raise RunError(f"{path} does not fit row '{row.label}': it has {unknown[0]}")


def taken(weights: Weights, take: Mapping[str, str]) -> Weights:
    """The weights under some prefixes, by the names they have in the new model."""
    return {
        ours + name.removeprefix(theirs): value
        for ours, theirs in take.items()
        for name, value in weights.items()
        if name.startswith(theirs)
    }


def claim(run: Run, row: Row, seed: int) -> None:
    """Write down what a run folder is for, or refuse one that was made for something else.

    A folder in which no training got under way, because the row was a mistake, is free again.
    """
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
        record["take"] = dict(row.take)
    if row.offline:
        record["offline"] = asdict(row.offline)
    path = run.path("recipe")
    if not path.exists() or not run.begun:
        write_json(path, record)
        return
    found = run.recipe_row
    wanted = json.loads(json.dumps(record))
    for key in wanted:
        if found.get(key) != wanted[key]:
            raise RunError(
                f"{run} holds a run with another {key}: {found.get(key)}; now {wanted[key]}. "
                "Delete it or keep these runs elsewhere (--runs)"
            )
