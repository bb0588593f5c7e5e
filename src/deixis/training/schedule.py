"""Learning rates as pure functions of the step."""

import math

from deixis.training.spec import TrainSpec, steps_in


def rate_factor(spec: TrainSpec, step: int, steps_per_epoch: int) -> float:
    """What the base rate is multiplied by at a step, counted from 0."""
    warmup = steps_in(spec.warmup, steps_per_epoch)
    warm = min(1.0, (step + 1) / warmup) if warmup else 1.0
    if spec.schedule == "constant":
        return warm
    if spec.schedule == "step":
        return warm * spec.decay ** (step // max(1, steps_in(spec.decay_every, steps_per_epoch)))
    share = step / max(1, steps_in(spec.length, steps_per_epoch))
    return warm * 0.5 * (1.0 + math.cos(math.pi * min(1.0, share)))
