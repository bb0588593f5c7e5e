"""The training loop, whole."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from torch import nn

from deixis.losses.base import Objective
from deixis.methods.model import Model
from deixis.training.checkpoint import Standing, restore, save, write_tensors
from deixis.training.schedule import rate_factor
from deixis.training.spec import TrainSpec
from deixis.types import Batch


@runtime_checkable
class Batches(Protocol):
    """What the loop draws from: an epoch's batches depend on its number alone."""

    def __len__(self) -> int:
        """Batches an epoch."""
        ...

    def epoch(self, number: int) -> Iterator[Batch]:
        """The batches of one epoch."""
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
    validate: Callable[[Model], float]  # higher is better; never looks at the test split

    def run(self, tell: Tell) -> Standing:
        """Train to the end, from wherever an earlier life stopped; leaves the best weights behind.

        The seed of a step depends on the run's seed and the step's number alone, and so does the
        batch: a killed and resumed run ends bit for bit where an uninterrupted one does.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        state, log = self.folder / "state.safetensors", self.folder / "log.jsonl"
        optimiser = torch.optim.AdamW(
            self._parameters(), lr=self.spec.lr, weight_decay=self.spec.weight_decay
        )
        standing = Standing()
        if state.exists():
            standing = restore(state, self.model, self.objective, optimiser)
        length = len(self.batches)
        for epoch in range(standing.step // length, self.spec.epochs):
            for number, batch in enumerate(self.batches.epoch(epoch), epoch * length):
                record = self._step(batch, number, optimiser)
                tell(record)
                _append(log, record)
            score = self.validate(self.model)
            standing = replace(standing, step=(epoch + 1) * length)
            if score > standing.best:
                standing = replace(standing, best=score, best_step=standing.step)
                write_tensors(self.folder / "best.safetensors", self.model.state_dict(), {})
            record = {"step": standing.step, "epoch": epoch + 1, "validation": score}
            tell(record)
            _append(log, record)
            save(state, self.model, self.objective, optimiser, standing)
        return standing

    def _step(self, batch: Batch, number: int, optimiser: torch.optim.Optimizer) -> dict[str, Any]:
        torch.manual_seed(self.seed * 1_000_003 + number)
        factor = rate_factor(self.spec, number, len(self.batches))
        for group in optimiser.param_groups:
            group["lr"] = self.spec.lr * factor
        self.model.train()
        terms = self.objective(self.model(batch), number)
        loss = torch.stack(list(terms.values())).sum()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self._parameters(), self.spec.clip)
        optimiser.step()
        values = {name: term.item() for name, term in terms.items()}
        return {"step": number + 1, "loss": loss.item(), **values, "norm": norm.item()}

    def _parameters(self) -> list[nn.Parameter]:
        return [*self.model.parameters(), *self.objective.parameters()]


def _append(log: Path, record: dict[str, Any]) -> None:
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
