"""The training loop, whole."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from torch import nn
from torch.optim import Optimizer

from deixis.losses.base import Objective
from deixis.methods.model import Model
from deixis.training.checkpoint import Standing, restore, save, write_tensors
from deixis.training.collapse import CollapseWatch
from deixis.training.gradients import Gradients
from deixis.training.optimiser import make_optimiser, set_rates
from deixis.training.precision import Precision
from deixis.training.spec import TrainSpec, steps_in
from deixis.types import Batch, map_tensors

STATE, BEST, LOG = "state.safetensors", "best.safetensors", "log.jsonl"


@runtime_checkable
class Batches(Protocol):
    """What the loop draws from: a batch depends on the step's number alone."""

    def __len__(self) -> int:
        """Batches an epoch."""
        ...

    def at(self, step: int) -> Batch:
        """The batch of a step, counted from 0 over all epochs."""
        ...


Tell = Callable[[dict[str, Any]], None]  # receives one record a step and one a validation


@dataclass(frozen=True)
class Fit:
    """Everything a round of training is made of."""

    model: Model
    objective: Objective
    batches: Batches
    spec: TrainSpec
    seed: int
    folder: Path  # where the round stands between two lives: state, log, best weights
    validate: Callable[[Model], Mapping[str, float]]  # never looks at the test split
    headline: str  # the measure that chooses the best weights; higher is better

    @property
    def steps(self) -> int:
        """Steps the round takes unless it stops early."""
        return steps_in(self.spec.length, len(self.batches))

    def run(self, tell: Tell) -> Standing:
        """Train to the end, from wherever an earlier life stopped; leaves the best weights behind.

        The random numbers of a step depend on the seed and the step's number alone, and so does its
        batch: a killed and resumed run ends bit for bit where an uninterrupted one does.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        optimiser = make_optimiser(self.model, self.objective, self.spec)
        precision = Precision(next(self.model.parameters()).device)
        gradients = Gradients(self.model, self.objective, self.spec.chunk, precision)
        standing = self._resume(optimiser, precision)
        every = max(1, steps_in(self.spec.validate_every, len(self.batches)))
        watch = CollapseWatch()
        while standing.step < self.steps and not self._stale(standing):
            record = self._step(standing.step, optimiser, gradients, watch)
            standing = replace(standing, step=standing.step + 1)
            self._log(record, tell)
            if standing.step % every == 0 or standing.step == self.steps:
                standing = self._validated(standing, tell)
                standing = replace(standing, scaling=precision.scaler.state_dict())
                save(self.folder / STATE, self.model, self.objective, optimiser, standing)
        return standing

    def _resume(self, optimiser: Optimizer, precision: Precision) -> Standing:
        state = self.folder / STATE
        standing = Standing()
        if state.exists():
            standing = restore(state, self.model, self.objective, optimiser)
            if standing.scaling:
                precision.scaler.load_state_dict(dict(standing.scaling))
        _cut_log(self.folder / LOG, standing.step)
        return standing

    def _stale(self, standing: Standing) -> bool:
        return bool(self.spec.patience) and standing.since_best >= self.spec.patience

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
        note = watch.look(self.objective, out, values.get("rank", 0.0), step)
        if note:
            record["warning"] = note
        return {**record, "rate": rate, "norm": norm.item()}

    def _validated(self, standing: Standing, tell: Tell) -> Standing:
        measures = self.validate(self.model)
        score = measures[self.headline]
        standing = replace(standing, since_best=standing.since_best + 1)
        if score > standing.best:
            standing = replace(standing, best=score, best_step=standing.step, since_best=0)
            write_tensors(self.folder / BEST, self.model.state_dict(), {})
        record = {"step": standing.step, "validation": score, "best": standing.best}
        self._log({**record, "measures": dict(measures)}, tell)
        return standing

    def _log(self, record: dict[str, Any], tell: Tell) -> None:
        with (self.folder / LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        tell(record)


def _cut_log(log: Path, step: int) -> None:
    """Forget what an earlier life logged beyond its last checkpoint: it will happen again."""
    if not log.exists():
        return
    lines = log.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.endswith("}") and json.loads(line)["step"] <= step]
    log.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
