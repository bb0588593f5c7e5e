"""The training loop, with optimiser, schedules, gradients and checkpoints."""
