"""Detects collapse: every score the same, the loss stuck."""

from dataclasses import dataclass, replace

import torch

from deixis.losses.objective import Objective
from deixis.types import Outputs

PATIENCE = 100  # steps in a row


@dataclass
class CollapseWatch:
    """Reports when the ranking term stays where a constant scorer would put it.

    For the summed hinge that is 2 · batch · margin, for the match loss 4 · batch · ln 2; rather
    than knowing each formula, the watch computes the loss of constant scores.
    """

    steps: int = 0

    def check(self, objective: Objective, out: Outputs, rank: float, step: int) -> str | None:
        """Return a sentence when the model has been collapsed for long, else nothing."""
        if "rank" not in objective.losses:
            return None
        with torch.no_grad():
            flat = replace(out, scores=out.scores.mean().expand_as(out.scores))
            term = next(term for term in objective.terms if term.name == "rank")
            constant = float(term.weight * term.loss(flat, step))
        stuck = constant > 0 and abs(rank - constant) <= 0.01 * constant
        self.steps = self.steps + 1 if stuck else 0
        if self.steps != PATIENCE:
            return None
        return (
            f"the ranking loss has been {rank:.2f} for {PATIENCE} steps, which is what constant "
            "scores give: the model has collapsed. A lower rate, a warm-up over other negatives "
            "than the hardest or a larger batch helps."
        )
