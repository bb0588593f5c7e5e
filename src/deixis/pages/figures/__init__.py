"""Charts and drawings, for pages and for papers."""
