"""Which models may be fetched from a hub: those a person named, never those a file names.

A library, a run folder or a manifest is data. It may name a model that lies on this machine; to
fetch one because it says so would let whoever made it choose what is downloaded.
"""

from deixis.features.backbones.tower_names import split_side

_named: set[str] = set()


def allow_hub(name: str) -> None:
    """Note that a person named a backbone, such as ``hf:openai/clip`` or ``tuned:…``, just now."""
    for part in name.split("+"):
        kind, colon, path = part.partition(":")
        if colon and kind in ("hf", "tuned"):
            _named.add(split_side(path.removesuffix(":both"))[0])


def only_local(path: str) -> bool:
    """Whether a model must be found on this machine."""
    return path not in _named
