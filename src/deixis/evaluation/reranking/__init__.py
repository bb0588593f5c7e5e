"""Scores corrected or ordered again by a second model."""
