"""Models by the names a library may remember: a run folder, the packaged one, a tower."""

import os
from pathlib import Path

from deixis.errors import SearchError
from deixis.features.files import file_hash, json_hash
from deixis.features.graph import cache_folder
from deixis.search.bank import FILE, Bank
from deixis.search.banked import BankedRun
from deixis.search.encoder import Encoder
from deixis.search.exported import FOLDER, MANIFEST, ExportedRun
from deixis.search.matching import RunEncoder

PHOTOS = "deixis:photos"  # the model for photographs that comes with deixis
TOWER = "hf:"  # of the transformers library, zero-shot
PACKAGED = Path(__file__).parents[1] / "photos"


def open_run(name: str | Path) -> Encoder:
    """The encoder of a run folder, of ``deixis:photos``, or of ``hf:`` and a CLIP or SigLIP.

    Graphs of an exported run are used where they are, and torch otherwise; those of the packaged
    run are made once, in the user's cache.
    """
    source = str(name)
    if source == PHOTOS:
        run = packaged()
        graphs = _cached_graphs(run)
    elif source.startswith(TOWER):
        source = _absolute(source)
        run = _adopted(source)
        graphs = run / FOLDER
    else:
        source, run = "", Path(name)
        graphs = run / FOLDER
    whole = (graphs / MANIFEST).is_file()
    encoder = ExportedRun(run, graphs, source) if whole else RunEncoder(run, source)
    bank = run / FILE
    return BankedRun(encoder, Bank.read(bank)) if bank.is_file() else encoder


def packaged() -> Path:
    """The run folder of the model for photographs."""
    if not (PACKAGED / "config.json").is_file():
        raise SearchError(
            "this deixis comes without a model for photographs; name one: --model RUN, "
            "or --model hf:PATH of a CLIP or SigLIP"
        )
    return PACKAGED


def _cached_graphs(run: Path) -> Path:
    graphs = cache_folder() / f"photos-{file_hash(run / 'model.safetensors')[:16]}"
    if not (graphs / MANIFEST).is_file():
        from deixis.methods.export import export_run  # noqa: PLC0415  torch comes with it, once

        export_run(run, graphs)
    return graphs


def _absolute(tower: str) -> str:
    """A tower's name that means the same from every folder."""
    path = Path(tower.removeprefix(TOWER)).expanduser()
    return f"{TOWER}{os.path.abspath(path)}" if path.is_dir() else tower


def _adopted(tower: str) -> Path:
    run = cache_folder() / "adopted" / json_hash(tower)[:16]
    if not (run / "config.json").is_file():
        from deixis.methods.zero_shot import adopt  # noqa: PLC0415  torch comes with it

        adopt(tower, run)
    return run
