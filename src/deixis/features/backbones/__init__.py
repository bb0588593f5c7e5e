"""Networks that turn images into regions and texts into tokens."""
