"""A library over HTTP: the interface for programs and the page for people."""
