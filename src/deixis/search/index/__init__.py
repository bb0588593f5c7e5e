"""Engines that find the best rows for a query vector."""
