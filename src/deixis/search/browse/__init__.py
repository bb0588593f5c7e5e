"""A library looked through without a query: its pictures in order, and what one might ask."""
