"""The limits on HTTP requests: who may ask, how much at once, and for how long."""
