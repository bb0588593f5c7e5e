"""A trained run: its folder, the model in it, and what it can be turned into."""
