"""The training loop, whole."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from torch import nn
from torch.optim import Optimizer

from deixis.files import make_folder, sync, write_atomic
from deixis.losses.objective import Objective
from deixis.methods.model import Model
from deixis.runs.run import Run, RunFile
from deixis.training.checkpoint import (
    TrainingState,
    readable_checkpoint,
    restore,
    save,
    write_tensors,
)
from deixis.training.collapse import CollapseWatch
from deixis.training.gradients import Gradients
from deixis.training.optimiser import make_optimiser, set_rates
from deixis.training.precision import Precision
from deixis.training.processes import leads
from deixis.training.spec import TrainSpec, steps_in
from deixis.types import Batch, map_tensors


@runtime_checkable
class Batches(Protocol):
    """What the loop draws from: a batch depends on the step's number alone."""

    def __len__(self) -> int:
        """Batches per epoch."""
        ...

    def at(self, step: int) -> Batch:
        """The batch of a step, counted from 0 over all epochs."""
        ...


OnRecord = Callable[[dict[str, Any]], None]  # receives one record per step and per validation


@dataclass(frozen=True)
class Fit:
    """Everything a round of training is made of."""

    model: Model
    objective: Objective
    batches: Batches
    spec: TrainSpec
    seed: int
    folder: Path  # the run folder, where state, log and best weights are kept
    # Measures on the validation split, never on the test split; without it the last weights stay.
    validate: Callable[[Model], Mapping[str, float]] | None = None
    headline: str = "rsum"  # the measure that chooses the best weights; higher is better

    @property
    def steps(self) -> int:
        """Steps the round takes."""
        return max(1, steps_in(self.spec.length, len(self.batches)))

    def run(self, on_record: OnRecord) -> TrainingState:
        """Train to the end, from where an earlier process stopped; keep the best weights.

        The random numbers of a step depend on the seed and the step's number alone, and so does its
        batch: a killed and resumed run ends bit for bit where an uninterrupted one does.
        """
        make_folder(self.folder)
        optimiser = make_optimiser(self.model, self.objective, self.spec)
        precision = Precision(next(self.model.parameters()).device)
        gradients = Gradients(self.model, self.objective, self.spec.chunk, precision)
        standing = self._resume(optimiser, precision)
        every = max(1, steps_in(self.spec.validate_every, len(self.batches)))
        watch = CollapseWatch()
        while standing.step < self.steps:
            record = self._step(standing.step, optimiser, gradients, watch)
            standing = replace(standing, step=standing.step + 1)
            self._log(record, on_record)
            validates = standing.step % every == 0 or standing.step == self.steps
            if validates:
                standing = self._validated(standing, on_record)
            # Where validation is rare, an epoch is still the most that a crash can cost.
            if validates or standing.step % len(self.batches) == 0:
                standing = replace(standing, scaling=precision.scaler.state_dict())
                if leads():
                    self._save(optimiser, standing)
        return standing

    def _save(self, optimiser: Optimizer, standing: TrainingState) -> None:
        sync(self._path("log"))  # what a checkpoint follows is on disk before it
        before = self._path("state_before")
        save(self._path("state"), self.model, self.objective, optimiser, standing, before)

    def _resume(self, optimiser: Optimizer, precision: Precision) -> TrainingState:
        standing = TrainingState()
        state = readable_checkpoint(self._path("state"), self._path("state_before"))
        if state is not None:
            standing = restore(state, self.model, self.objective, optimiser)
            if standing.scaling:
                precision.scaler.load_state_dict(dict(standing.scaling))
        if leads():
            _cut_log(self._path("log"), standing.step)
        return standing

    def _path(self, kind: RunFile) -> Path:
        return Run(self.folder).path(kind)

    def _step(
        self, step: int, optimiser: Optimizer, gradients: Gradients, watch: CollapseWatch
    ) -> dict[str, Any]:
        rate = set_rates(optimiser, self.spec, step, len(self.batches))
        self.model.train()
        optimiser.zero_grad(set_to_none=True)
        seed = (self.seed * 1_000_003 + step) * 7919
        precision = gradients.precision
        batch = map_tensors(self.batches.at(step), lambda tensor: tensor.to(precision.device))
        terms, out = gradients.add(batch, step, seed)
        precision.unscale(optimiser)
        parameters = [p for group in optimiser.param_groups for p in group["params"]]
        norm = nn.utils.clip_grad_norm_(parameters, self.spec.clip)
        precision.step(optimiser)
        values = {name: term.item() for name, term in terms.items()}
        record: dict[str, Any] = {
            "step": step + 1,
            "steps": self.steps,
            "loss": sum(values.values()),
            **values,
        }
        note = watch.check(self.objective, out, values.get("rank", 0.0), step)
        if note:
            record["warning"] = note
        return {**record, "rate": rate, "norm": norm.item()}

    def _validated(self, standing: TrainingState, on_record: OnRecord) -> TrainingState:
        if not leads():
            return standing
        if self.validate is None:
            write_tensors(self._path("best"), self.model.state_dict(), {})
            return standing
        measures = self.validate(self.model)
        score = measures[self.headline]
        if score > standing.best:
            standing = replace(standing, best=score, best_step=standing.step)
            write_tensors(self._path("best"), self.model.state_dict(), {})
        record = {"step": standing.step, "validation": score, "best": standing.best}
        self._log({**record, "measures": dict(measures)}, on_record)
        return standing

    def _log(self, record: dict[str, Any], on_record: OnRecord) -> None:
        if not leads():
            return
        with self._path("log").open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        on_record(record)


def _cut_log(log: Path, step: int) -> None:
    """Drop what an earlier process logged beyond its last checkpoint: those steps run again."""
    if not log.exists():
        return
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    kept = [line for line in lines if _step_of(line) <= step]
    write_atomic(log, "".join(f"{line}\n" for line in kept).encode())


def _step_of(line: str) -> float:
    """The step of a logged line; of one that was cut off in the middle, later than any."""
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return float("inf")
