"""Tests of single properties of a trained model: gates, twins, trace controls, cost."""
