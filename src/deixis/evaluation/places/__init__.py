"""Evaluation of pointing: retrieval with places, controls, the pointing game, mirrored twins."""
