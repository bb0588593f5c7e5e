"""Codes of positions: of boxes in a picture and of words in a text."""
