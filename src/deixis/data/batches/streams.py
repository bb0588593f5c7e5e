"""Random streams of a training step: one per purpose, so that none repeats another's numbers."""

import hashlib

import torch


def stream(seed: int, step: int, purpose: str) -> torch.Generator:
    """A generator that depends on the seed, the step and what its numbers decide."""
    digest = hashlib.sha256(f"{purpose} {seed} {step}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)
