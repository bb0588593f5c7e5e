"""Lists of hard negatives on disk: our own and those that authors released."""
