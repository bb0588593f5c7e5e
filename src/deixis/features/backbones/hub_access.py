"""Which models may be fetched from a hub: those a person named, never those a file names.

A library, a run folder or a manifest is data. It may name a model that lies on this machine; to
fetch one because it says so would let whoever made it choose what is downloaded.
"""

from pathlib import Path

from deixis.errors import FeatureError
from deixis.features.backbones.tower_names import split_side

_named: set[str] = set()


def allow_hub(name: str) -> None:
    """Note that a person named a backbone, such as ``hf:openai/clip`` or ``tuned:…``, just now.

    A path in a folder of this machine is no hub id, though ``data/resnet152`` reads like one: where
    nothing lies there it is refused, and no stranger's model of that name is fetched instead. A
    folder that is there allows nothing either, so it may go later without a stranger's coming.
    """
    for part in name.split("+"):
        kind, colon, rest = part.partition(":")
        if colon and kind in ("hf", "tuned"):
            path = split_side(rest.removesuffix(":both"))[0]
            folder = Path(path)
            if folder.is_dir():
                continue
            if folder.parent != Path() and folder.parent.is_dir():
                raise FeatureError(
                    f"{part}: there is nothing at {path}; put the folder of a network there, with "
                    "config.json and model.safetensors, or name another"
                )
            _named.add(path)


def only_local(path: str) -> bool:
    """Whether a model must be found on this machine."""
    return path not in _named
