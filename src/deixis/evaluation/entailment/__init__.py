"""Sentences people wrote about a picture, some true of it and some not: which a model prefers."""
