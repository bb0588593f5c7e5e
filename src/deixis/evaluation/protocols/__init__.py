"""Named protocols: how a score matrix becomes the numbers that papers print."""
