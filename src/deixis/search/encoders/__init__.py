"""Models as search uses them."""
