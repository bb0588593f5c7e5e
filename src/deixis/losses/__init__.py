"""Outputs of a forward pass in, one number out."""
