"""Scores to ranks, ranks to measures, under protocols that say what they are."""
