"""Pointing in search: cells on disk, places of a query, hits re-ordered by them."""
