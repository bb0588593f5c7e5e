"""Encoders for words only."""
