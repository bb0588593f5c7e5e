"""Why an image and a text match: evidence from the scorer that ranked them."""
