"""The authors' own files: checkpoints, vocabularies and settings, read without unpickling."""
