"""Queries, filters, and the searcher that answers them."""
