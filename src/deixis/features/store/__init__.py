"""Features on disk and in memory: packed arrays, the cache, image files."""
