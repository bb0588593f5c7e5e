"""Encoders for regions only."""
