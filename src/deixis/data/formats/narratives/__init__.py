"""Localized Narratives: read, attached to images, or a corpus of their own."""
