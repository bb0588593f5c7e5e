"""From disk to a corpus, and from a corpus to batches: one reader per format."""
