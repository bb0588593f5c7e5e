"""n vectors in, the parts of an embedding out."""
