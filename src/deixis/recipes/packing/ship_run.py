"""A finished run made ready to ship: packed, judged on all its corpora, with a place head."""

from pathlib import Path

from deixis.recipes.packing.pack_corpora import pack_corpora
from deixis.recipes.packing.pack_places import pack_places
from deixis.recipes.packing.pack_sentences import pack_sentences
from deixis.recipes.packing.packaging import Packed, pack_run, require_packable
from deixis.runs.advance import Advance, silent
from deixis.runs.places.take_place_head import take_place_head
from deixis.runs.run import Run
from deixis.search.encoders.load_encoder import PACKAGED


def ship_run(
    run: Run, folder: Path | None = None, places: Run | None = None, advance: Advance = silent
) -> Packed:
    """Pack a run into a folder, by default as the packaged model; ``places`` gives its head."""
    require_packable(run)
    small = Run(folder or PACKAGED)
    if places is None:
        small.path("places").unlink(missing_ok=True)  # of a run that was packed here before
    else:
        small.folder.mkdir(parents=True, exist_ok=True)
        take_place_head(places, advance).write(small.path("places"))
    packed = pack_run(run, small.folder, advance)
    pack_corpora(small, run, advance)
    pack_sentences(small, run.data, advance)
    if places is not None:
        pack_places(small, places.data, advance)
    return packed
