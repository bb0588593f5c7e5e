"""The place head of a run: taken out of training, kept with a packed run, used by search."""
