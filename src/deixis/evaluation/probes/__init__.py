"""Narrower questions to a trained model: gates, twins, trace controls, cost."""
