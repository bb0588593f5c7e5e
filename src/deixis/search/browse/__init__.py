"""Browsing a library without a query: its pictures in order, and example queries."""
