"""Regions or tokens in, contextual vectors out; the length is kept."""
