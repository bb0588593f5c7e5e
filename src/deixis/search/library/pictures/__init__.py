"""Picture files on disk: found, opened, measured and encoded."""
