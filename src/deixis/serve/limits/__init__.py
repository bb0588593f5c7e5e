"""What stands before every request: who may ask, how much at once, and for how long."""
