"""The library on disk: generations of vectors, their manifest, indexing and status."""
