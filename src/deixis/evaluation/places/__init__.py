"""Pointing judged: retrieval with places, controls, the pointing game, mirrored twins."""
