"""Learning rates as pure functions of the step."""

import math

from deixis.training.spec import TrainSpec


def rate_factor(spec: TrainSpec, step: int, steps_an_epoch: int) -> float:
    """What the base rate is multiplied by at a step, counted from 0."""
    warm = min(1.0, (step + 1) / spec.warmup) if spec.warmup else 1.0
    if spec.schedule == "step":
        return warm * 0.1 ** (step // (spec.decay_epochs * steps_an_epoch))
    share = step / (spec.epochs * steps_an_epoch)
    return warm * 0.5 * (1.0 + math.cos(math.pi * share))
