"""Uploaded pictures, decoded in separate processes with limits."""
