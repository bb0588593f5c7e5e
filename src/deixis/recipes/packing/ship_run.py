"""A finished run made ready to ship: packed, judged on all its corpora, with a place head."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

from deixis.errors import RunError
from deixis.files import replacing_folder
from deixis.recipes.packing.pack_corpora import pack_corpora
from deixis.recipes.packing.pack_places import pack_places
from deixis.recipes.packing.pack_sentences import pack_sentences
from deixis.recipes.packing.packaging import Packed, pack_run, require_packable
from deixis.runs.advance import Advance, silent
from deixis.runs.places.take_place_head import take_place_head
from deixis.runs.run import FILES, Run, RunFile
from deixis.search.encoders.load_encoder import PACKAGED

LICENCE = "LICENSE.md"  # written by hand; it stays where a run is packed again
PACKED: tuple[RunFile, ...] = (
    "config", "weights", "vocabulary", "recipe", "metrics", "card", "bank", "places", "onnx",
)  # fmt: skip


def ship_run(
    run: Run, folder: Path | None = None, places: Run | None = None, advance: Advance = silent
) -> Packed:
    """Pack a run into a folder, by default as the packaged model; ``places`` gives its head.

    What was packed there before stays until the new folder is whole.
    """
    require_packable(run)
    target = folder or PACKAGED
    _require_own(target)
    with replacing_folder(target, over=True) as made:
        if (target / LICENCE).is_file():
            shutil.copyfile(target / LICENCE, made / LICENCE)
        packed = _pack(run, Run(made), places, advance)
    return replace(packed, folder=target)


def _pack(run: Run, small: Run, places: Run | None, advance: Advance) -> Packed:
    if places is not None:
        take_place_head(places, advance).write(small.path("places"))
    packed = pack_run(run, small.folder, advance)
    pack_corpora(small, run, advance)
    pack_sentences(small, run.data, advance)
    if places is not None:
        pack_places(small, places.data, advance)
    return packed


def _require_own(folder: Path) -> None:
    """Refuse a folder with anything else in it: it is about to be replaced."""
    own = {LICENCE, *(FILES[kind] for kind in PACKED)}
    found = os.listdir(folder) if folder.is_dir() else []
    if others := sorted(set(found) - own):
        raise RunError(
            f"{folder} holds '{others[0]}', which is no file of a packed run, and packing replaces "
            "the folder; name a folder that does not exist"
        )
