"""Hard negatives mined over a whole training split by a trained model."""
