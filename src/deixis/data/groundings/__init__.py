"""Where in an image the phrases of a text are, drawn by people."""
