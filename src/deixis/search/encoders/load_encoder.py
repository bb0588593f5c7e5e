"""Models by the names a library may remember: a run folder, the packaged one, a tower."""

import os
from pathlib import Path

from deixis.errors import SearchError
from deixis.extras import need
from deixis.files import json_hash, locked
from deixis.paths import cache_folder, expanded
from deixis.runs.run import Run
from deixis.runs.text_bank import Bank
from deixis.search.encoders.hubness_encoder import HubnessEncoder
from deixis.search.encoders.onnx_encoder import MANIFEST, OnnxEncoder
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.encoders.torch_encoder import TorchEncoder

PHOTOS = "deixis:photos"  # the model for photographs that comes with deixis
TOWER = "hf:"  # of the transformers library, zero-shot
SCENES = "deixis:scenes"  # the model for simulated scenes that the demo searches with
PACKAGED = Path(__file__).parents[2] / "photos"
PACKAGED_SCENES = Path(__file__).parents[2] / "scenes"


def load_encoder(name: str | Path) -> SearchEncoder:
    """The encoder of a run folder, of ``deixis:photos``, or of ``hf:`` and a CLIP or SigLIP.

    ``deixis:scenes`` is for simulated scenes.

    Graphs of an exported run are used where they are, and torch otherwise. Libraries name models
    too: nothing is fetched from a hub unless ``allow_hub`` was called with the name.
    """
    source = str(name)
    if source == PHOTOS:
        run = packaged()
    elif source == SCENES:
        run = packaged_scenes()
    elif source.startswith(TOWER):
        source = _absolute(source)
        run = _adopted(source)
    else:
        source, run = "", Path(name)
    whole = (Run(run).path("onnx") / MANIFEST).is_file()
    encoder = OnnxEncoder(run, source) if whole else TorchEncoder(run, source)
    bank = Run(run).path("bank")
    return HubnessEncoder(encoder, Bank.read(bank)) if bank.is_file() else encoder


def packaged() -> Path:
    """The run folder of the model for photographs."""
    if not Run(PACKAGED).trained:
        raise SearchError(
            "this installation has no model for photographs; name one: --model RUN, "
            "or --model hf:PATH of a CLIP or SigLIP"
        )
    return PACKAGED


def packaged_scenes() -> Path:
    """The run folder of the model for simulated scenes."""
    return PACKAGED_SCENES


def _absolute(tower: str) -> str:
    """A tower's name that means the same from every folder."""
    path = expanded(tower.removeprefix(TOWER))
    return f"{TOWER}{os.path.abspath(path)}" if path.is_dir() else tower


def _adopted(tower: str) -> Path:
    run = cache_folder() / "adopted" / json_hash(tower)[:16]
    if not Run(run).trained:
        need("transformers", "hub")
        from deixis.runs.adopt_pretrained import adopt_pretrained

        with locked(run.with_suffix(".lock")):
            if not Run(run).trained:
                adopt_pretrained(tower, run)
    return run
