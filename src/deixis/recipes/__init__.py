"""One TOML file is one printed table: what to train, on what, and the paper's numbers beside it."""
