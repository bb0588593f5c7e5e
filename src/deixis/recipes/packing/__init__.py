"""A finished run made small enough to ship, with its card."""
