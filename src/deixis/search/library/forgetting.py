"""Take folders or pictures out of a library, with all that is known of them."""

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deixis.errors import SearchError
from deixis.search.library.manifest import Manifest
from deixis.search.library.pictures.folder_scan import lies_in


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many files were forgotten, and how many the library still knows."""

    files: int
    left: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def forget(manifest: Manifest, paths: Iterable[Path]) -> Forgotten:
    """Remove what was indexed at some paths or below them from a manifest.

    Only what was given to the library can be taken out again: a part of an indexed folder would be
    back after the next pass over it.
    """
    given = {os.path.realpath(path) for path in paths}
    roots = manifest.roots()
    gone = [root for root in roots if lies_in(root, given)]
    for path in sorted(given):
        _refuse_part(path, [root for root in roots if root not in gone])
        if not any(lies_in(root, {path}) for root in gone):
            listed = ", ".join(f"'{root}'" for root in roots) or "nothing"
            raise SearchError(f"'{path}' was never given to this library; it has {listed}")
    files = manifest.files_below(given)
    with manifest.writing():
        manifest.remove_files([*files, *gone])
        for source in manifest.facts.sources():
            if lies_in(source.path, given):
                manifest.facts.forget_notes(source.path)
        manifest.facts.keep_known()
    return Forgotten(len(files), len(manifest.files()))


def _refuse_part(path: str, roots: list[str]) -> None:
    for root in roots:
        if path != root and lies_in(path, {root}):
            raise SearchError(
                f"'{path}' lies in '{root}', which is indexed: it would be back after the next "
                "pass. Move it out of there and index again, or forget the whole folder"
            )
