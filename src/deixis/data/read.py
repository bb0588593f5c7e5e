"""Any corpus from its path: the format is recognised by what lies there."""

from collections.abc import Callable
from pathlib import Path

from deixis.data.corpus import Corpus
from deixis.data.imagefolder import read_imagefolder
from deixis.errors import DataError

Format = tuple[str, Callable[[Path], bool], Callable[[Path], Corpus]]

# Name, how it is recognised, how it is read; the first that recognises the path reads it.
FORMATS: list[Format] = [
    ("folder of pictures", Path.is_dir, read_imagefolder),
]


def read_corpus(path: Path) -> Corpus:
    """Read the corpus at a path, whichever known format it has."""
    if not path.exists():
        raise DataError(f"there is no corpus at {path}")
    for _, recognise, read in FORMATS:
        if recognise(path):
            return read(path)
    known = ", ".join(name for name, _, _ in FORMATS)
    raise DataError(f"{path} is of no known format; known: {known}")
