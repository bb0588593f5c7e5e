"""Which images and texts meet at a step, and how they become tensors."""
