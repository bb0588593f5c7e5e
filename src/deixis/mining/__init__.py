"""Which negatives count."""
