"""Groundings from their path: Flickr30k Entities as it unpacks, or ``groundings.jsonl``."""

from pathlib import Path

from deixis.data.corpus import Corpus
from deixis.data.groundings.entities import is_entities, read_entities
from deixis.data.groundings.groundings import Groundings
from deixis.data.groundings.groundings_jsonl import FILE, read_groundings_jsonl
from deixis.data.simulated.scenes.scene_groundings import is_scenes, scene_groundings
from deixis.errors import DataError


def read_groundings(path: Path, corpus: Corpus) -> Groundings:
    """Read the groundings of a corpus, given whole as it was read.

    The path is a folder of Flickr30k Entities, a ``.jsonl`` file, a folder that holds
    ``groundings.jsonl``, or simulated scenes, whose boxes are known.
    """
    if is_scenes(path):
        return scene_groundings(path, corpus)
    if is_entities(path):
        return read_entities(path, corpus)
    file = path / FILE if path.is_dir() else path
    if file.is_file() and file.suffix == ".jsonl":
        return read_groundings_jsonl(file, corpus)
    raise DataError(
        f"{path} holds no groundings; use a folder with Sentences and Annotations (Flickr30k"
        f" Entities) or {FILE}"
    )
