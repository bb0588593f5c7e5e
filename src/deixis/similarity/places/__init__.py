"""Phrases at places: the score of pointing, in numpy for search and in torch for training."""
