"""Writes the official layout of each corpus, small in number, into a folder."""
