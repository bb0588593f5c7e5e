"""From embedded pictures to found ones: the library on disk, the index over it, the searcher."""
