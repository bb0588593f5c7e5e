"""Losses on sets of vectors: their elements apart, both sides alike in distribution."""
