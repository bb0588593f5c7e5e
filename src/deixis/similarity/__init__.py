"""Two embeddings in, a score out: higher is better."""
