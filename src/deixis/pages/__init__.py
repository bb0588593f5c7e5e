"""Every HTML page and figure."""
