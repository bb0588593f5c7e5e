"""A text run and a place head judged together, and their table."""
