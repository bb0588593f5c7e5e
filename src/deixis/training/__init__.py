"""One readable loop, and what it leaves behind."""
