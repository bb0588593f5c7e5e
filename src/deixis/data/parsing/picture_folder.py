"""Find the folder that holds the pictures of a list."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

TRIES = 20  # pictures that may be missing before the list's own folder is taken


def picture_folder(root: Path, files: Iterable[str]) -> str:
    """The folder below the root in which the files of a list lie, with its slash.

    Empty where they lie in the root itself, or nowhere.
    """
    folders = ["", *sorted(f"{child.name}/" for child in root.iterdir() if child.is_dir())]
    for file in islice(files, TRIES):
        for folder in folders:
            if (root / folder / file).is_file():
                return folder
    return ""
